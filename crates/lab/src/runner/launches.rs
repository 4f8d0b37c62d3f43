//! Launches of generated images.

use super::Runner;
use crate::{Event, Failure, LabError, RunFolder, Stop, launch_all};
use model::{Experiment, Sample};
use os::launcher::Launcher;
use std::time::Instant;

impl Runner {
    /// Makes launches as [`launch_all`], and those that fail by Wine's fault once more. The budget of
    /// the schedule is for all of it.
    ///
    /// # Errors
    /// As [`launch_all`]; or somebody has ended Wine's server.
    pub(crate) fn launch_all(
        &self,
        mut launcher: Launcher,
        experiment: &Experiment,
        samples: &mut Vec<Sample>,
        (folder, notes): (&mut Option<RunFolder>, &mut Vec<String>),
        least_rounds: u32,
        observer: &mut dyn FnMut(Event),
    ) -> Result<Stop, Failure> {
        let (began, mut failures) = (Instant::now(), self.failures());
        let mut left = experiment.clone();
        let stop = loop {
            let kept = (&mut *folder, &mut *notes);
            match launch_all(launcher, &left, samples, kept, least_rounds, observer) {
                Err(failure) if failures.go_on(&failure.error, samples.len()) => {
                    launcher = Launcher::start().map_err(LabError::from)?;
                }
                stop => break stop,
            }
            let left_s = |budget_s: f64| (budget_s - began.elapsed().as_secs_f64()).max(0.0);
            left.schedule.budget_s = experiment.schedule.budget_s.map(left_s);
        };
        notes.extend(failures.note());
        self.check()?;
        stop
    }
}
