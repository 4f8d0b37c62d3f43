//! Runs of an exact fake launcher: order, stops, resuming, and what a run folder survives.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod fake;
mod folders;
mod memory;
mod resuming;
mod stopping;
