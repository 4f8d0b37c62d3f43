//! Traced launches of real programs, built here or installed.

mod cpuids;
mod files;
mod installed;
mod kinds;
mod permission;
mod processes;
mod signals;
mod support;
