//! Scattered functions of files that the user builds: no variant mends that, a new link does.

use crate::{Baseline, OptimizeError, Terms};
use model::{CalledModule, text};
use ordering::called_code::{called_code, worth_an_order};
use os::LaunchError;
use os::launcher::Stdio;
use os::trace::{FunctionRequest, RecordUntil};
use std::path::Path;

/// The files that no package brought and whose functions are worth an order, those with the most to
/// gain first. Empty where all files are of packages, or where the launch cannot be recorded:
/// whoever asks why a launch takes its time is told the reason, here it is a hint.
///
/// # Errors
/// The user wants to stop.
pub(crate) fn scattered(
    baseline: &Baseline,
    terms: &Terms,
) -> Result<Vec<CalledModule>, OptimizeError> {
    if baseline.graph.modules.iter().all(|module| is_of_package(&module.path)) {
        return Ok(Vec::new());
    }
    let request = FunctionRequest {
        until: RecordUntil::Launch(model::Until::Exit),
        first: None,
        count_limit: None,
        timeout: terms.timeout,
        cpu: terms.cpu,
        stdio: Stdio::null()?,
    };
    let recorded = match os::trace::functions(&baseline.program.command, &request) {
        Ok(recorded) if recorded.ending == baseline.observed[0].ending => recorded,
        Err(error @ LaunchError::Interrupted) => return Err(error.into()),
        _ => return Ok(Vec::new()),
    };
    let code = called_code(recorded, &baseline.program.command);
    let worth = worth_an_order(&code).into_iter();
    let own = worth.filter(|module| !is_of_package(Path::new(&text::name(&module.calls.path))));
    Ok(own.cloned().collect())
}

fn is_of_package(path: &Path) -> bool {
    files::is_of_package(&path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}
