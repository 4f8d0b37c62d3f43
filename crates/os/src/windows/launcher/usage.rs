//! From the system's accounts of a program to a [`Launch`]. Those of Windows have not been tried on
//! Windows.

use super::child::Child;
use super::job::Job;
use crate::windows::under_wine;
use model::{Ending, Launch, Reading};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};

/// Of a program that has ended before the first tick that was its own.
const UNTIMED: &str = "Windows counts CPU time in clock ticks, some milliseconds apart, and counted \
                       none for this program";

/// The launch of a program that is complete. Nothing of it has been ended yet.
pub(super) fn launch(total_us: f64, ending: Ending, child: &Child, job: &Job) -> Launch {
    let wine = under_wine::version().is_some();
    let accounts = if wine { None } else { job.accounts() };
    let times = accounts.map(|accounts| (accounts.TotalUserTime, accounts.TotalKernelTime));
    let time_us = |of: fn((i64, i64)) -> i64| match times {
        // In units of 100 ns.
        Some(times) if times != (0, 0) => Reading::Value(of(times) as f64 / 10.0),
        Some(_) => Reading::unavailable(UNTIMED, ""),
        None => uncounted(wine, "the CPU time of programs"),
    };
    let peak_kib = if wine { None } else { peak_working_set_kib(child) };
    Launch {
        total_us,
        created_us: Some(child.created_us),
        ending,
        user_us: time_us(|(user, _)| user),
        system_us: time_us(|(_, system)| system),
        private_kib: Some(private_memory()),
        peak_rss_kib: peak_kib
            .map_or_else(|| uncounted(wine, "the memory of programs"), Reading::Value),
        minor_faults: faults(wine),
        major_faults: faults(wine),
        read_bytes: uncounted(wine, "the bytes that programs read from storage"),
        left_running: 0,
    }
}

/// Windows counts page faults with and without input together.
fn faults(wine: bool) -> Reading<u64> {
    match wine {
        true => uncounted(wine, "the page faults of programs"),
        false => Reading::unavailable("Windows counts page faults of all kinds together", ""),
    }
}

/// What the system was asked for and does not tell.
fn uncounted<T>(wine: bool, what: &str) -> Reading<T> {
    let system = if wine { "Wine" } else { "Windows" };
    Reading::unavailable(format!("{system} does not count {what}"), "")
}

/// Memory that belongs to one process alone.
pub(super) fn private_memory() -> Reading<u64> {
    let reason = "headstart for Windows does not measure private memory";
    Reading::unavailable(reason, "")
}

/// The largest working set of the process itself.
fn peak_working_set_kib(child: &Child) -> Option<u64> {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let bytes = size_of_val(&counters) as u32;
    // SAFETY: the handle is the process's, and the counters outlive the call.
    let known = unsafe { K32GetProcessMemoryInfo(child.process(), &mut counters, bytes) } != 0;
    known.then_some(counters.PeakWorkingSetSize as u64 / 1024)
}
