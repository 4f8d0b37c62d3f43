//! The laboratory: which launch comes when, where its result is kept, and when there are enough.
//!
//! [`measure`] takes a [`MeasureRequest`] and gives [`Measured`]: samples and results. In it,
//! [`launch_rounds`] walks the stored schedule, makes each launch through a [`Launching`] (the real
//! one is [`Bench`], tests use an exact fake) and appends each sample to the [`RunFolder`] at once.
//! Whoever asks is told of every [`Event`] meanwhile.

mod bench;
#[cfg(target_os = "linux")]
mod cold;
#[cfg(not(target_os = "linux"))]
#[path = "windows/cold.rs"]
mod cold;
pub mod command_line;
mod created;
pub mod default_folder;
mod error;
mod folder;
mod jobs;
pub mod libraries;
mod measure;
mod output_file;
#[cfg(target_os = "linux")]
pub mod pagein;
pub mod pietrek;
mod precision;
#[cfg(target_os = "linux")]
pub mod prefetching;
#[cfg(target_os = "linux")]
pub mod probes;
mod rounds;
mod runner;
mod schedule;
pub mod sweep;

pub use bench::Bench;
pub use cold::CacheEmptier;
pub use error::{Failure, FolderRemedy, HookKind, LabError, Series, StreamKind};
pub use folder::{EXPLANATION, RunFolder, Samples};
pub use jobs::{JobsRequest, JobsResult, throughput};
pub use measure::{
    Keep, MeasureRequest, Measured, ResumeRequest, ScheduleChanges, UNBOUNDED_ROUNDS, experiment,
    measure, resume,
};
pub(crate) use measure::{create, launch_all, moved};
pub use output_file::{OutputFile, quoted_end};
pub use rounds::{Event, Launching, Progress, Stop, launch_rounds};
pub use runner::{ChanceFailures, Runner};
pub use schedule::{fresh_seed, order};
