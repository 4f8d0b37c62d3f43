//! Launches of a program whose first code is the start-up guard.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod beliefs;
mod bench;
mod environment;
mod files;
mod names;
mod refusals;
mod speed;
mod wrappers;
