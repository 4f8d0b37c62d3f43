//! Launching, tracing and counting on Linux.

pub mod attend;
pub mod background;
pub mod cache;
pub mod checks;
pub mod clock;
pub mod copies;
pub mod copy;
pub mod count;
pub mod cpuid;
mod error;
pub mod faults;
pub mod file_pages;
pub mod file_reads;
mod guard;
pub mod host;
pub mod interrupt;
pub mod kept_copy;
pub mod launcher;
pub mod lease;
pub mod library_loads;
pub mod loader_log;
pub mod locks;
pub mod memory;
pub mod perf;
pub mod phrases;
pub mod prefetch;
pub mod probes;
pub mod processes;
pub mod program;
pub mod read_ahead;
pub mod residency;
pub mod samples;
pub mod spawn;
pub mod tool;
pub mod trace;

pub use error::{FailureKind, LaunchError};
