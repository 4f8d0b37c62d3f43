//! Sampled launches.

use super::cut::Cut;
use super::{Recorder, reading};
use crate::elf::hot::{ENOUGH, Sampled};
use lab::{LabError, Launching};
use model::{Hot, Reading};
use os::LaunchError;
use std::path::Path;
use std::time::{Duration, Instant};

/// After this time what was sampled is enough.
const BUDGET: Duration = Duration::from_secs(5);

impl Recorder<'_> {
    /// Samples as many launches as it takes for their shares to be known.
    pub(super) fn hot(&self, launching: &dyn Launching) -> Result<Reading<Hot>, LabError> {
        let mut sampled = Sampled::default();
        let started = Instant::now();
        loop {
            if launching.interrupted() {
                return Err(LaunchError::Interrupted.into());
            }
            match reading(os::samples::record(self.command, &self.options)) {
                Reading::Value(launch) => sampled.add(&launch, self.cut.and_then(Cut::of_perf)),
                Reading::Unavailable { reason, remedy } => {
                    return Ok(Reading::unavailable(reason, remedy));
                }
            }
            if sampled.samples() >= ENOUGH || started.elapsed() >= BUDGET {
                let kernel = os::samples::kernel_symbols();
                return Ok(Reading::Value(sampled.finish(&kernel, Path::new(image::DEBUG_FOLDER))));
            }
        }
    }
}
