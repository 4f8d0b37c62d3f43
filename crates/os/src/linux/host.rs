//! The machine and how busy it is.

/// CPUs that the calling thread may run on, in order.
pub fn allowed_cpus() -> Vec<u32> {
    // SAFETY: an all-zero set is valid, and the call writes into it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) < 0 {
            // More CPUs than the set holds: the first ones are as good a choice as any.
            return vec![0];
        }
        set
    };
    // SAFETY: the index stays below the set's size.
    (0..libc::CPU_SETSIZE as u32)
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu as usize, &set) })
        .collect()
}
