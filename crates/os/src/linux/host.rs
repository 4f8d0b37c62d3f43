//! The machine and how busy it is.

mod busy;
mod file_system;
mod processor;

pub use busy::{Activity, activity, load_average, quiet_cpu};
pub use file_system::file_system;
pub use processor::{cpuid_cost_us, hypervisor};

use model::Machine;
use std::ffi::CStr;
use std::fs;

/// What there is to know about the machine for reading its results later.
pub fn machine() -> Machine {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    // SAFETY: no pointer is passed.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    Machine {
        kernel: kernel(),
        processor: processor_model(&cpu_info),
        cpus: u32::try_from(cpus).unwrap_or(1),
        hypervisor: hypervisor(),
        libc: libc_version(),
    }
}

/// Name and release of the kernel, such as `Linux 6.12.1`.
fn kernel() -> String {
    // SAFETY: an all-zero utsname is valid; uname fills it with NUL-terminated strings.
    unsafe {
        let mut name: libc::utsname = std::mem::zeroed();
        libc::uname(&mut name);
        let text =
            |field: &[libc::c_char]| CStr::from_ptr(field.as_ptr()).to_string_lossy().into_owned();
        format!("{} {}", text(&name.sysname), text(&name.release))
    }
}

/// The model as `/proc/cpuinfo` names it; its keys differ between architectures.
fn processor_model(cpu_info: &str) -> String {
    let value = |key: &str| {
        let mut lines = cpu_info.lines();
        lines.find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'))
    };
    let model = value("model name").or_else(|| value("Model")).or_else(|| value("cpu model"));
    let model = model.or_else(|| value("Hardware")).unwrap_or("").trim();
    let model = if model.is_empty() { "unknown model" } else { model };
    format!("{model} ({})", std::env::consts::ARCH)
}

#[cfg(target_env = "gnu")]
fn libc_version() -> Option<String> {
    // SAFETY: returns a static NUL-terminated string.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    Some(format!("glibc {}", version.to_string_lossy()))
}

/// The host's C library is not the one that headstart was built with.
#[cfg(not(target_env = "gnu"))]
fn libc_version() -> Option<String> {
    None
}

/// CPUs that the calling thread may run on, in order.
pub fn allowed_cpus() -> Vec<u32> {
    // SAFETY: an all-zero set is valid, the call writes into it, and indices stay below its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) < 0 {
            // The machine has more CPUs than the set holds; the first one always exists.
            return vec![0];
        }
        let cpus = 0..libc::CPU_SETSIZE as u32;
        cpus.filter(|&cpu| libc::CPU_ISSET(cpu as usize, &set)).collect()
    }
}

/// Takes `cpu` from the calling thread's affinity where another one is left: whoever measures
/// launches on a CPU does not work on it meanwhile.
pub fn stay_off(cpu: u32) {
    // SAFETY: plain calls on a set that outlives them. Where they fail the caller shares the
    // CPU, which costs precision and nothing else.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &mut set) == 0 {
            libc::CPU_CLR(cpu as usize, &mut set);
            if libc::CPU_COUNT(&set) > 0 {
                libc::sched_setaffinity(0, size, &set);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_this_machine() {
        let machine = machine();
        assert!(machine.kernel.starts_with("Linux "), "{machine:?}");
        assert!(machine.processor.contains(std::env::consts::ARCH), "{machine:?}");
        assert!(machine.cpus >= 1);
        let allowed = allowed_cpus();
        assert!(!allowed.is_empty() && allowed.is_sorted());
    }

    #[test]
    fn finds_the_model_in_cpuinfo() {
        assert!(processor_model("processor\t: 0\nmodel name\t: Fast 9\n").starts_with("Fast 9 ("));
        assert!(processor_model("").starts_with("unknown model"));
    }
}
