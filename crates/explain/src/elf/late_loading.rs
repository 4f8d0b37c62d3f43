//! Libraries that a program opens while it runs, and what loading them takes.

use crate::elf::loader_log::median_runs;
use crate::elf::middle::median_by;
use crate::time::us;
use model::{Command, LoaderLog};
use os::LaunchError;
use os::attend::AttendOptions;

/// Launches with the loader's log.
const LAUNCHES: usize = 3;

/// What a program opens by dlopen in a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateLoading {
    /// Libraries, with those that they need.
    pub libraries: u64,
    /// The share of the launch that it takes to find, map and relocate them, without their initializers.
    pub share: f64,
}

/// Launches the command with the loader's log, which makes no launch shorter.
///
/// # Errors
/// The log cannot be recorded.
pub fn late_loading(
    command: &Command,
    options: &AttendOptions,
) -> Result<LateLoading, LaunchError> {
    let log = || os::loader_log::record(command, "files,reloc,libs", options);
    let logs: Vec<LoaderLog> = (0..LAUNCHES).map(|_| log()).collect::<Result<_, _>>()?;
    Ok(of_logs(&logs))
}

fn of_logs(logs: &[LoaderLog]) -> LateLoading {
    let mut found = LateLoading { libraries: 0, share: 0.0 };
    let Some(chosen) = median_by(logs, |log| log.total_us) else { return found };
    let runs = median_runs(logs);
    let own = runs.iter().filter(|run| run.pid == chosen.pid);
    let mut time = 0;
    for module in own.flat_map(|run| &run.modules).filter(|module| module.late) {
        found.libraries += 1;
        time += module.map.unwrap_or(0) + module.relocate.unwrap_or(0);
    }
    if chosen.total_us > 0.0 {
        found.share = (us(time) / chosen.total_us).clamp(0.0, 1.0);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::test_logs::log;

    #[test]
    fn what_dlopen_loads_is_counted_without_its_initializers() {
        let python = log("python");
        let found = of_logs(std::slice::from_ref(&python));
        assert_eq!(found.libraries, 2);
        assert!(found.share > 0.0 && found.share < 0.5, "{found:?}");
        assert_eq!(of_logs(&[]), LateLoading { libraries: 0, share: 0.0 });
    }
}
