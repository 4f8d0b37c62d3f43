//! CPUs and priority classes of launches.

use super::Configuration;
use crate::phrases::Phrase;
use crate::windows::LaunchError;
use crate::windows::{host, under_wine};
use std::io;
use windows_sys::Win32::System::Diagnostics::Debug::{
    SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SEM_NOOPENFILEERRORBOX, SetErrorMode,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetPriorityClass, REALTIME_PRIORITY_CLASS,
    SetPriorityClass, SetThreadAffinityMask,
};

/// Programs inherit it.
pub(super) fn no_error_windows() {
    // SAFETY: no pointer is passed.
    unsafe {
        SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    }
}

/// Checks that launches can run so, and gives headstart the real-time class where that is asked for.
///
/// # Errors
/// The class is not permitted; there is no such CPU.
pub(super) fn check(configuration: Configuration) -> Result<(), LaunchError> {
    if let Some(cpu) = configuration.cpu
        && !host::allowed_cpus().contains(&cpu)
    {
        return Err(LaunchError::System {
            action: format!("launches could not be pinned to CPU {cpu}").into(),
            source: io::Error::other("headstart may not use it"),
            remedy: Phrase::ChooseCpu.words().into(),
        });
    }
    if configuration.realtime { become_realtime() } else { Ok(()) }
}

/// Windows gives a process without the privilege for it the class below, and says nothing.
fn become_realtime() -> Result<(), LaunchError> {
    let refused = |reason: String| LaunchError::NotPermitted {
        mechanism: "the real-time priority class",
        reason,
    };
    let realtime = Phrase::Realtime.words();
    if under_wine::version().is_some() {
        return Err(refused(format!("Wine accepts it but does nothing; leave out {realtime}")));
    }
    // SAFETY: no pointer is passed.
    let class = unsafe {
        SetPriorityClass(GetCurrentProcess(), REALTIME_PRIORITY_CLASS);
        GetPriorityClass(GetCurrentProcess())
    };
    if class == REALTIME_PRIORITY_CLASS {
        return Ok(());
    }
    Err(refused(format!("run as administrator, or leave out {realtime}")))
}

/// Keeps the calling thread on one CPU for as long as it lives.
pub(super) struct Pinned {
    before: usize,
}

impl Pinned {
    /// `None` where it cannot be, which costs precision and nothing else.
    pub(super) fn to(cpu: u32) -> Option<Pinned> {
        // SAFETY: no pointer is passed.
        let before = unsafe { SetThreadAffinityMask(GetCurrentThread(), mask(cpu)) };
        (before != 0).then_some(Pinned { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: no pointer is passed.
        unsafe { SetThreadAffinityMask(GetCurrentThread(), self.before) };
    }
}

/// The set of this CPU alone; empty where there is no such CPU.
pub(super) fn mask(cpu: u32) -> usize {
    1_usize.checked_shl(cpu).unwrap_or(0)
}
