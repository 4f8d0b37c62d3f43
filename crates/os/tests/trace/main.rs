//! Traced launches of real programs, built here or installed.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod cpuids;
mod ended;
mod files;
mod functions;
mod installed;
mod kinds;
mod lost;
mod moved;
mod pe;
mod permission;
mod processes;
mod signals;
mod support;
mod tracers;
mod waits;
