//! Loading libraries one after the other: the program that does so is generated, and heard until it ends.

pub use super::launcher::heard;
pub use crate::timed_loads::{LoadEnding, TimedLoad, TimedLoads};
