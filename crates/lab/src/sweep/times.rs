//! The rounds of a sweep: a few at least, then as many as its budget allows.

use crate::{Event, Failure, Launching, Progress, Samples, Stop, launch_rounds};
use model::{Experiment, Sample, Schedule};

/// Rounds that a sweep makes even where its budget is spent.
pub const LEAST_ROUNDS: u32 = 5;
/// Each size has been tried before: this is only for what the other sizes displace.
pub const WARM_UP_ROUNDS: u32 = 1;

/// [`launch_rounds`], with at least [`LEAST_ROUNDS`] rounds before the schedule's budget ends it.
///
/// # Errors
/// As [`launch_rounds`].
pub fn launch_all(
    experiment: &Experiment,
    done: &mut Vec<Sample>,
    launching: &mut dyn Launching,
    kept: &mut dyn Samples,
    observer: &mut dyn FnMut(Event),
) -> Result<Stop, Failure> {
    let mut first = experiment.clone();
    first.schedule.rounds = LEAST_ROUNDS.min(experiment.schedule.rounds);
    first.schedule.budget_s = None;
    let Schedule { rounds: rounds_at_most, budget_s, .. } = experiment.schedule;
    let mut of_all = |event: Event| match event {
        Event::Launched(step) => {
            observer(Event::Launched(Progress { rounds_at_most, budget_s, ..step }))
        }
        other => observer(other),
    };
    match launch_rounds(&first, done, launching, kept, &mut of_all)? {
        Stop::Rounds => launch_rounds(experiment, done, launching, kept, observer),
        stop => Ok(stop),
    }
}
