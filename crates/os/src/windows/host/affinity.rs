//! Which CPUs a thread may run on.
//!
//! They are those of one processor group: on machines with more than 64 CPUs, headstart stays in the
//! one that it was started in.

use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask, SetThreadAffinityMask,
};

/// CPUs that this process may run on, in order.
pub fn allowed_cpus() -> Vec<u32> {
    let allowed = allowed();
    (0..usize::BITS).filter(|cpu| allowed & (1 << cpu) != 0).collect()
}

/// The last of the allowed CPUs: the first ones are those that schedulers fill first.
pub fn quiet_cpu() -> u32 {
    allowed_cpus().last().copied().unwrap_or(0)
}

/// Takes `cpu` from the calling thread's affinity where another one is left: whoever measures
/// launches on a CPU does not work on it meanwhile.
pub fn stay_off(cpu: u32) {
    let others = allowed() & !1_usize.checked_shl(cpu).unwrap_or(0);
    if others != 0 {
        // SAFETY: no pointer is passed. Where it fails the caller shares the CPU, which costs
        // precision and nothing else.
        unsafe { SetThreadAffinityMask(GetCurrentThread(), others) };
    }
}

/// One bit for each CPU; the first one where the system does not tell.
fn allowed() -> usize {
    let (mut process, mut system) = (0, 0);
    // SAFETY: both numbers outlive the call.
    unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut process, &mut system) };
    process.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quiet_cpu_is_allowed() {
        let allowed = allowed_cpus();
        assert!(!allowed.is_empty() && allowed.is_sorted());
        assert!(allowed.contains(&quiet_cpu()));
        // On a thread of its own, whose affinity is changed.
        std::thread::spawn(|| stay_off(quiet_cpu())).join().unwrap();
        assert_eq!(allowed_cpus(), allowed);
    }
}
