//! Toolchains: small programs that start each other as compilers do, and the compilers of the machine.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod again;
mod companions;
mod compilers;
mod fake;
mod names;
mod selection;
