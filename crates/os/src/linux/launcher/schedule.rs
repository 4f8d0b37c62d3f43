//! Pinning and real-time scheduling of the launcher.

use super::Configuration;
use crate::linux::error::LaunchError;
use crate::linux::host;
use crate::linux::phrases::Phrase;
use rustix::mm::{MlockAllFlags, mlockall};
use std::io;

/// A middling priority: above everything ordinary, below the kernel's own threads.
const PRIORITY: libc::c_int = 50;

/// Applies the configuration to the calling process.
pub fn apply(configuration: Configuration) -> Result<(), LaunchError> {
    if let Some(cpu) = configuration.cpu {
        host::pin(&[cpu]).map_err(|source| LaunchError::System {
            action: "launches could not be pinned to the requested CPU".into(),
            source,
            remedy: Phrase::ChooseCpu.words().into(),
        })?;
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
    let policy = libc::SCHED_BATCH | libc::SCHED_RESET_ON_FORK;
    set_policy(policy, 0).map_err(|source| LaunchError::System {
        action: "the launcher's scheduling policy could not be set".into(),
        source,
        remedy: Phrase::AnyCpu.words().into(),
    })
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
    let realtime = Phrase::Realtime.words();
    set_policy(libc::SCHED_FIFO, PRIORITY).map_err(|source| LaunchError::System {
        action: format!("{realtime}: SCHED_FIFO is not permitted").into(),
        source,
        remedy: "run as root, or allow it with: ulimit -r 50 (as root, in limits.conf: rtprio)"
            .into(),
    })?;
    let locked = mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE);
    locked.map_err(|error| LaunchError::System {
        action: format!("{realtime}: memory could not be locked").into(),
        source: error.into(),
        remedy: "run as root, or raise the limit with: ulimit -l unlimited".into(),
    })
}
