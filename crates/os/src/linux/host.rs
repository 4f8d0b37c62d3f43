//! The machine and how busy it is.

mod affinity;
mod busy;
pub(crate) mod cgroup;
mod file_system;
mod mount_points;
mod read_ahead;
mod threads;
mod unpacking;

pub use crate::cpuid::{cpuid_cost_us, hypervisor};
pub use affinity::{allowed_cpus, leave_cpu, stay_off};
pub(crate) use affinity::{pin, processors};
pub use busy::{Activity, activity, load_average, quiet_cpu};
pub(crate) use file_system::{Mount, mounts};
pub use file_system::{file_system, is_always_in_memory, is_of_disk};
pub(crate) use mount_points::{MountPoint, mount_points, mount_points_of};
pub use read_ahead::read_ahead_kib;
pub(crate) use read_ahead::{bdi_name, device_read_ahead_kib};
pub use threads::may_start_threads;
pub use unpacking::{unpack_times, unpacking_mount};

use model::Machine;
use std::ffi::CStr;
use std::fs;

/// EMFILE: the process has as many files open as it may.
pub const TOO_MANY_FILES: i32 = libc::EMFILE;
/// What helps where too many files are open.
pub const MORE_FILES: &str = "raise the limit on open files: ulimit -n";
/// What helps where there is no room for a temporary file.
pub const OTHER_TEMPORARY_FOLDER: &str =
    "free some space in the folder for temporary files, or choose another with TMPDIR";

/// The number of the user for whom files are opened.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The Wine that the system is, as on Windows it may be: none here.
pub fn wine() -> Option<String> {
    None
}

/// What there is to know about the machine for reading its results later.
pub fn machine() -> Machine {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    Machine {
        kernel: kernel(),
        processor: processor_model(&cpu_info),
        cpus: processors(),
        hypervisor: hypervisor(),
        libc: libc_version(),
    }
}

/// Name and release of the kernel, such as `Linux 6.12.1`.
fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_this_machine() {
        let machine = machine();
        assert!(machine.kernel.starts_with("Linux "), "{machine:?}");
        assert!(machine.processor.contains(std::env::consts::ARCH), "{machine:?}");
        assert!(machine.cpus >= 1);
    }

    #[test]
    fn finds_the_model_in_cpuinfo() {
        assert!(processor_model("processor\t: 0\nmodel name\t: Fast 9\n").starts_with("Fast 9 ("));
        assert!(processor_model("").starts_with("unknown model"));
    }
}
