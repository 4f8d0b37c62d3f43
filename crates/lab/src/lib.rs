//! The laboratory: which launch comes when, where its result is kept, and when there are enough.
//!
//! [`run`] walks a stored schedule, makes each launch through a [`Launching`] (the real one is
//! [`Bench`], tests use an exact fake) and appends each sample to the [`RunFolder`] at once.

mod bench;
mod cold;
mod error;
mod folder;
mod jobs;
mod precision;
mod run;
mod schedule;
pub mod sweep;

pub use bench::Bench;
pub use cold::Chill;
pub use error::LabError;
pub use folder::{RunFolder, Samples};
pub use jobs::{JobsRequest, JobsResult, throughput};
pub use run::{Launching, Progress, Stop, run};
pub use schedule::order;
