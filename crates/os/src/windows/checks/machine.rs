//! Which system this is, what powers it, and how much memory is free.

use super::{Outcome, under_wine};
use crate::windows::host;
use model::Check;
use std::io;
use windows_sys::Win32::System::Power::{GetSystemPowerStatus, SYSTEM_POWER_STATUS};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

/// Share of available memory below which files are expected to be evicted.
const SHORT: f64 = 0.1;

/// Windows, or Wine.
pub(super) fn system() -> Check {
    let kernel = host::machine().kernel;
    let outcome = match host::wine() {
        None => Outcome::good(kernel, "times are those of the Windows loader"),
        Some(_) => Outcome::note(
            kernel,
            "times are those of Wine's loader and server, not of Windows; Wine does not count page faults, \
             memory or CPU time of programs, so they are unavailable",
        ),
    };
    outcome.named("system")
}

/// On battery, processors may be slower.
pub(super) fn power() -> Check {
    const EFFECT: &str = "on battery, Windows may run the processors at a lower speed";
    let outcome = under_wine("is not asked: the power settings are those of the host", EFFECT);
    outcome.unwrap_or_else(|| supply(EFFECT)).named("power")
}

fn supply(effect: &str) -> Outcome {
    let mut status = SYSTEM_POWER_STATUS::default();
    // SAFETY: the structure outlives the call.
    if unsafe { GetSystemPowerStatus(&mut status) } == 0 {
        return Outcome::unknown(io::Error::last_os_error().to_string(), effect);
    }
    match (status.ACLineStatus, status.SystemStatusFlag) {
        (0, 1) => Outcome::warning("on battery, and battery saver is on", effect),
        (0, _) => Outcome::warning("on battery", effect),
        (1, _) => Outcome::good("on AC power", "the processors are not slowed to save the battery"),
        _ => Outcome::unknown("Windows does not know whether the machine is on battery", effect),
    }
}

/// Free memory.
pub(super) fn memory() -> Check {
    const EFFECT: &str = "files may be evicted between warm launches";
    let mut status =
        MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    // SAFETY: the structure says its own size and outlives the call.
    let told = unsafe { GlobalMemoryStatusEx(&mut status) } != 0 && status.ullTotalPhys > 0;
    let outcome = if told {
        free(status.ullAvailPhys, status.ullTotalPhys, EFFECT)
    } else {
        Outcome::unknown(io::Error::last_os_error().to_string(), EFFECT)
    };
    outcome.named("memory")
}

fn free(available: u64, total: u64, effect: &str) -> Outcome {
    let share = available as f64 / total as f64;
    let gib = total as f64 / f64::from(1 << 30);
    let found = format!("{:.0} % of {gib:.1} GiB available", share * 100.0);
    if share < SHORT {
        Outcome::warning(found, effect).remedy("taskmgr")
    } else {
        Outcome::good(found, "files stay in memory once a launch has read them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CheckState;

    #[test]
    fn little_free_memory_is_a_warning() {
        let check = |available| free(available, 16 << 30, "x").named("memory");
        assert_eq!(check(8 << 30).state, CheckState::Good);
        assert_eq!(check(8 << 30).found, "50 % of 16.0 GiB available");
        assert_eq!(check(1 << 30).state, CheckState::Warning);
    }
}
