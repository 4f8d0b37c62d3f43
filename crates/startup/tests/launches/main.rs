//! Launches of a program whose first code is the preamble.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod bench;
mod environment;
mod files;
mod identity;
mod names;
mod refusals;
mod speed;
mod wrappers;
