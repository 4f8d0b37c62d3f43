//! Which CPUs a thread may run on (sched_setaffinity(2)).

use std::io;

/// Processors of the machine that are online.
pub(crate) fn processors() -> u32 {
    // SAFETY: no pointer is passed.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(online).unwrap_or(1)
}

/// CPUs that the calling thread may run on, in order.
pub fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = allowed() else {
        // The machine has more CPUs than the set holds; the first one always exists.
        return vec![0];
    };
    let cpus = 0..libc::CPU_SETSIZE as u32;
    // SAFETY: indices stay below the size of the set.
    cpus.filter(|&cpu| unsafe { libc::CPU_ISSET(cpu as usize, &set) }).collect()
}

/// Restricts the calling thread to those of `cpus` that exist. Allocates nothing, so it may be
/// called between clone and execve.
///
/// # Errors
/// The kernel's answer: EINVAL where none of them may be used.
pub(crate) fn pin(cpus: &[u32]) -> io::Result<()> {
    // SAFETY: an all-zero set is valid; CPU_SET panics at numbers beyond its size, hence the
    // filter.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus.iter().filter(|&&cpu| cpu < libc::CPU_SETSIZE as u32) {
            libc::CPU_SET(cpu as usize, &mut set);
        }
        set
    };
    restrict(&set)
}

/// Takes `cpu` from the calling thread's affinity where another one is left: whoever measures
/// launches on a CPU does not work on it meanwhile.
pub fn stay_off(cpu: u32) {
    let Ok(mut set) = allowed() else { return };
    if cpu >= libc::CPU_SETSIZE as u32 {
        return;
    }
    // SAFETY: the index is below the size of the set.
    let left = unsafe {
        libc::CPU_CLR(cpu as usize, &mut set);
        libc::CPU_COUNT(&set)
    };
    if left > 0 {
        // Where it fails the caller shares the CPU, which costs precision and nothing else.
        let _ = restrict(&set);
    }
}

fn allowed() -> io::Result<libc::cpu_set_t> {
    // SAFETY: an all-zero set is valid, and the call writes into it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) {
            0 => Ok(set),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn restrict(set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the set outlives the call.
    match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
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
