//! Pinning and real-time scheduling of the launcher.

use super::Configuration;
use crate::linux::error::LaunchError;
use std::io;
use std::mem::{size_of, zeroed};

/// A middling priority: above everything ordinary, below the kernel's own threads.
const PRIORITY: libc::c_int = 50;

/// Applies the configuration to the calling process.
pub fn apply(configuration: Configuration) -> Result<(), LaunchError> {
    if let Some(cpu) = configuration.cpu {
        pin(&[cpu])?;
    }
    if configuration.realtime {
        become_realtime()
    } else if configuration.cpu.is_some() {
        stand_back()
    } else {
        Ok(())
    }
}

/// Restricts the calling thread to these CPUs.
pub fn pin(cpus: &[u32]) -> Result<(), LaunchError> {
    // SAFETY: an all-zero set is valid; CPU_SET ignores numbers beyond its size by panicking,
    // hence the filter.
    let result = unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        for &cpu in cpus.iter().filter(|&&cpu| cpu < libc::CPU_SETSIZE as u32) {
            libc::CPU_SET(cpu as usize, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if result < 0 {
        return Err(LaunchError::system(
            "launches could not be pinned to the CPU asked for",
            "choose one of the CPUs that nproc and taskset -p $$ show, or give --no-pin",
        ));
    }
    Ok(())
}

/// The CPUs that the calling thread may run on.
pub fn allowed() -> Vec<u32> {
    // SAFETY: an all-zero set is valid and outlives the call.
    unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        (0..libc::CPU_SETSIZE as u32).filter(|&cpu| libc::CPU_ISSET(cpu as usize, &set)).collect()
    }
}

/// Batch scheduling for the launcher alone: woken by the program's execve, it does not take their
/// common CPU away from the program. What it launches has the ordinary policy (RESET_ON_FORK).
fn stand_back() -> Result<(), LaunchError> {
    set_policy(libc::SCHED_BATCH | libc::SCHED_RESET_ON_FORK, 0).map_err(|source| {
        LaunchError::System {
            action: "the launcher could not stand back behind its programs",
            source,
            remedy: "give --no-pin",
        }
    })
}

fn set_policy(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: `parameters` outlives the call.
    match unsafe { libc::sched_setscheduler(0, policy, &parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Processors of the machine.
pub fn processors() -> u32 {
    // SAFETY: no pointer is passed.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(online).unwrap_or(1)
}

fn become_realtime() -> Result<(), LaunchError> {
    set_policy(libc::SCHED_FIFO, PRIORITY).map_err(|source| LaunchError::System {
        action: "--realtime: SCHED_FIFO is not permitted",
        source,
        remedy: "run as root, or allow it with: ulimit -r 50 (as root, in limits.conf: rtprio)",
    })?;
    // SAFETY: no pointers.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } < 0 {
        return Err(LaunchError::system(
            "--realtime: memory could not be locked",
            "run as root, or raise the limit with: ulimit -l unlimited",
        ));
    }
    Ok(())
}
