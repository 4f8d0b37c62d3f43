//! Pinning and real-time scheduling of the launcher.

use super::Configuration;
use crate::linux::error::LaunchError;
use crate::linux::host;
use rustix::mm::{MlockAllFlags, mlockall};
use std::io;

/// A middling priority: above everything ordinary, below the kernel's own threads.
const PRIORITY: libc::c_int = 50;

/// Applies the configuration to the calling process.
pub fn apply(configuration: Configuration) -> Result<(), LaunchError> {
    if let Some(cpu) = configuration.cpu {
        host::pin(&[cpu]).map_err(LaunchError::failed(
            "launches could not be pinned to the requested CPU",
            "choose a CPU that taskset -cp $$ lists, or use --no-pin",
        ))?;
    }
    if configuration.realtime {
        become_realtime()
    } else if configuration.cpu.is_some() {
        stand_back()
    } else {
        Ok(())
    }
}

/// Batch scheduling for the launcher alone: woken by the program's execve, it does not take their
/// common CPU away from the program. What it launches has the ordinary policy (RESET_ON_FORK).
fn stand_back() -> Result<(), LaunchError> {
    set_policy(libc::SCHED_BATCH | libc::SCHED_RESET_ON_FORK, 0).map_err(LaunchError::failed(
        "the launcher's scheduling policy could not be set",
        "use --no-pin",
    ))
}

/// Sets the scheduling policy of the calling thread (sched_setscheduler(2)).
pub(crate) fn set_policy(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: `parameters` outlives the call.
    match unsafe { libc::sched_setscheduler(0, policy, &parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn become_realtime() -> Result<(), LaunchError> {
    set_policy(libc::SCHED_FIFO, PRIORITY).map_err(LaunchError::failed(
        "--realtime: SCHED_FIFO is not permitted",
        "run as root, or allow it with: ulimit -r 50 (as root, in limits.conf: rtprio)",
    ))?;
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(LaunchError::failed(
        "--realtime: memory could not be locked",
        "run as root, or raise the limit with: ulimit -l unlimited",
    ))
}
