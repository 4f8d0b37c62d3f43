//! The machine and how busy it is.

mod affinity;
mod file_system;
mod processor;

pub use affinity::{allowed_cpus, quiet_cpu, stay_off};
pub use file_system::file_system;

use super::system_file::function;
use super::under_wine;
use model::Machine;
use std::ffi::{CStr, c_char};
use std::io;
use std::mem::transmute;
use std::ptr;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOW;
use windows_sys::Win32::System::Threading::{ALL_PROCESSOR_GROUPS, GetActiveProcessorCount};

/// The process has as many files open as it may (ERROR_TOO_MANY_OPEN_FILES).
pub const TOO_MANY_FILES: i32 = 4;
/// What helps where too many files are open.
pub const MORE_FILES: &str = "close other programs";
/// What helps where there is no room for a temporary file.
pub const OTHER_TEMPORARY_FOLDER: &str =
    "check the folder for temporary files, or choose another with TMP";

/// Whether headstart may start the threads that it works with: Windows limits them by memory alone.
///
/// # Errors
/// None.
pub fn may_start_threads() -> Result<(), (String, io::Error)> {
    Ok(())
}

/// The Wine that this Windows is, such as `wine-8.0`; `None` on Windows.
pub fn wine() -> Option<String> {
    Some(format!("wine-{}", under_wine::version()?))
}

/// What there is to know about the machine for reading its results later.
pub fn machine() -> Machine {
    Machine {
        kernel: kernel(),
        processor: format!("{} ({})", processor::model(), std::env::consts::ARCH),
        // SAFETY: no pointer is passed.
        cpus: unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) },
        hypervisor: processor::hypervisor(),
        libc: None,
    }
}

/// `Windows 10.0.26100`, or `Wine 8.0 on Linux 6.1.0`.
fn kernel() -> String {
    match (under_wine::version(), wine_host()) {
        (Some(version), Some(host)) => format!("Wine {version} on {host}"),
        (Some(version), None) => format!("Wine {version}"),
        (None, _) => format!("Windows {}", windows_version()),
    }
}

/// Name and release of the kernel below Wine.
fn wine_host() -> Option<String> {
    let get_version = function(c"ntdll.dll", c"wine_get_host_version")?;
    let (mut name, mut release) = (ptr::null(), ptr::null());
    // SAFETY: Wine's function of this name stores two static texts.
    unsafe {
        let get_version: unsafe extern "C" fn(*mut *const c_char, *mut *const c_char) =
            transmute(get_version);
        get_version(&mut name, &mut release);
        if name.is_null() || release.is_null() {
            return None;
        }
        let [name, release] = [name, release].map(|text| CStr::from_ptr(text).to_string_lossy());
        Some(format!("{name} {release}"))
    }
}

/// The version that no compatibility setting changes.
fn windows_version() -> String {
    let mut version = OSVERSIONINFOW::default();
    version.dwOSVersionInfoSize = size_of_val(&version) as u32;
    // SAFETY: the structure says its own size and outlives the call, which always succeeds.
    unsafe { RtlGetVersion(&mut version) };
    format!("{}.{}.{}", version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_this_machine() {
        let machine = machine();
        let names = ["Windows ", "Wine "];
        assert!(names.iter().any(|name| machine.kernel.starts_with(name)), "{machine:?}");
        assert!(machine.processor.contains(std::env::consts::ARCH), "{machine:?}");
        assert!(machine.cpus as usize >= allowed_cpus().len() && machine.libc.is_none());
        assert!(windows_version().split('.').all(|number| number.parse::<u32>().is_ok()));
    }
}
