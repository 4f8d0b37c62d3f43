//! Processes that were running when the launch ended.

use super::life::{END_UNSEEN, Life, outlives};
use model::PhaseTrace;

/// The note on an image that the launch leaves behind.
pub(crate) const LEFT_RUNNING: &str =
    "it was still running when the launch ended, and headstart ended it";

/// Whether the process of an image was left running when the launch ended.
pub(crate) fn is_left_running(trace: &PhaseTrace, life: &Life) -> bool {
    trace.processes.get(life.process).is_some_and(|process| outlives(trace, process))
}

/// Says which images were running when the launch ended, of those that `told` accepts, instead of
/// that their end is missing. With `until_ready` the view ends before the program does, and no end
/// is missing.
pub(crate) fn tell_left_running(
    trace: &PhaseTrace,
    lives: &mut [Life],
    until_ready: bool,
    told: fn(&Life) -> bool,
) {
    for life in lives {
        let left = is_left_running(trace, life) && told(life);
        life.notes.retain(|note| note != END_UNSEEN || !(left || until_ready));
        if left && !until_ready {
            life.notes.push(LEFT_RUNNING.to_owned());
        }
    }
}
