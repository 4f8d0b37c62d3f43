use crate::{LabError, Launching, Progress, Samples, Stop, run};
use model::{Experiment, Sample};

/// Rounds that a sweep makes even where its budget is spent.
pub const LEAST_ROUNDS: u32 = 5;
/// Each size has been tried before: this is only for what the other sizes displace.
pub const WARM_UP_ROUNDS: u32 = 1;

/// [`run`], with at least [`LEAST_ROUNDS`] rounds before the schedule's budget ends it.
///
/// # Errors
/// As [`run`].
pub fn launch_all(
    experiment: &Experiment,
    done: &mut Vec<Sample>,
    launching: &mut dyn Launching,
    kept: &mut dyn Samples,
    progress: &mut dyn FnMut(Progress),
) -> Result<Stop, LabError> {
    let mut first = experiment.clone();
    first.schedule.rounds = LEAST_ROUNDS.min(experiment.schedule.rounds);
    first.schedule.budget_s = None;
    let most = experiment.schedule.rounds;
    let mut of_all = |step: Progress| progress(Progress { rounds_at_most: most, ..step });
    match run(&first, done, launching, kept, &mut of_all)? {
        Stop::Rounds => run(experiment, done, launching, kept, progress),
        stop => Ok(stop),
    }
}
