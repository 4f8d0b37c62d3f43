//! Work that is to disturb nobody.

use super::launcher::set_policy;
use std::io;

/// The lowest priority of all (nice(1)).
const LOWEST: libc::c_int = 19;
/// Class and level of ioprio_set(2): idle.
const IO_IDLE: libc::c_long = 3 << 13;
/// That a number is one of a process (ioprio_set(2)).
const IO_OF_PROCESS: libc::c_long = 1;

/// The calling thread, and what it starts from now on, uses the CPU and disks that nobody else wants.
///
/// # Errors
/// The system does not permit one of the three; the others are in effect.
pub fn stand_back() -> io::Result<()> {
    let policy = set_policy(libc::SCHED_IDLE, 0);
    // SAFETY: plain numbers.
    let nice = match unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, LOWEST) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: plain numbers; 0 is the calling thread.
    let disks = match unsafe { libc::syscall(libc::SYS_ioprio_set, IO_OF_PROCESS, 0, IO_IDLE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    policy.and(nice).and(disks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_stands_back_has_the_idle_policy() {
        // Another thread, as there is no way back.
        let policy = std::thread::spawn(|| {
            stand_back().unwrap();
            // SAFETY: plain numbers.
            unsafe { (libc::sched_getscheduler(0), libc::getpriority(libc::PRIO_PROCESS, 0)) }
        });
        assert_eq!(policy.join().unwrap(), (libc::SCHED_IDLE, LOWEST));
    }
}
