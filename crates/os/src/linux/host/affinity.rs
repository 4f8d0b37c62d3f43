//! Which CPUs a thread may run on (sched_setaffinity(2)).

use rustix::process::getpid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// Processors of the machine that are online.
pub(crate) fn processors() -> u32 {
    // SAFETY: no pointer is passed.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(online).unwrap_or(1)
}

/// CPUs that the calling thread may run on, in order.
pub fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else {
        // The machine has more CPUs than the set holds; the first one always exists.
        return vec![0];
    };
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect()
}

/// Restricts the calling thread to those of `cpus` that exist. Allocates nothing, so it may be
/// called between clone and execve.
///
/// # Errors
/// The kernel's answer: EINVAL where none of them may be used.
pub(crate) fn pin(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus.iter().filter(|&&cpu| (cpu as usize) < CpuSet::MAX_CPU) {
        set.set(cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Takes `cpu` from the calling thread's affinity where another one is left: whoever measures
/// launches on a CPU does not work on it meanwhile.
pub fn stay_off(cpu: u32) {
    let Ok(mut set) = sched_getaffinity(None) else { return };
    if cpu as usize >= CpuSet::MAX_CPU {
        return;
    }
    set.unset(cpu as usize);
    if set.count() > 0 {
        // Where it fails the caller shares the CPU, which costs precision and nothing else.
        let _ = sched_setaffinity(None, &set);
    }
}

/// Moves the calling thread off the CPU that it is on, to others on which the first thread of this
/// process may run.
pub fn leave_cpu() {
    let Ok(mut set) = sched_getaffinity(Some(getpid())) else { return };
    set.unset(rustix::thread::sched_getcpu());
    if set.count() > 0 {
        // Where it fails two threads share a CPU, which costs time and nothing else.
        let _ = sched_setaffinity(None, &set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread of its own: the affinity is that of the calling thread.
    #[test]
    fn a_thread_is_pinned_and_stays_off() {
        let all = allowed_cpus();
        assert!(!all.is_empty() && all.is_sorted());
        let (first, pinned) = (all[0], all.clone());
        let thread = std::thread::spawn(move || {
            stay_off(first);
            let off = allowed_cpus();
            assert!(off == pinned[1..] || off == [first], "{off:?}");
            pin(&[first]).unwrap();
            assert_eq!(allowed_cpus(), [first]);
            stay_off(first);
            assert_eq!(allowed_cpus(), [first], "there is no other");
            pin(&[first, u32::MAX]).unwrap();
            assert_eq!(pin(&[u32::MAX]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
            assert_eq!(allowed_cpus(), [first]);
        });
        thread.join().unwrap();
        assert_eq!(allowed_cpus(), all);
    }
}
