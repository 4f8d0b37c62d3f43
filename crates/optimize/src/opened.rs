//! Libraries that the program opens while it runs: no variant merges them, and what that could save is known.

use crate::{Baseline, OptimizeError, Terms};
use explain::LateLoading;
use os::LaunchError;
use os::attend::AttendOptions;

/// What the program opens; `None` where that is nothing, or cannot be recorded: it is a hint, which nobody has asked
/// for.
///
/// # Errors
/// The user wants to stop.
pub(crate) fn opened(
    baseline: &Baseline,
    terms: &Terms,
) -> Result<Option<LateLoading>, OptimizeError> {
    let options =
        AttendOptions { timeout: terms.timeout, cpu: terms.cpu, ..AttendOptions::default() };
    match explain::late_loading(&baseline.program.command, &options) {
        Ok(found) => Ok(Some(found).filter(|found| found.libraries > 0)),
        Err(error @ LaunchError::Interrupted) => Err(error.into()),
        Err(_) => Ok(None),
    }
}
