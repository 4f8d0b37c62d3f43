//! From the kernel's accounts of a finished or running program to a [`Launch`].

use crate::linux::phrases::Phrase;
use crate::linux::{memory, processes};
use model::{Ending, Launch, Reading};
use std::fs;

/// How a launch came to be complete that is not waited for to its end, and when, in microseconds.
pub enum Completion {
    /// The program was ready.
    Ready(f64),
    /// It ended before that.
    Ended(f64, Ending, Box<libc::rusage>),
    /// It took too long.
    TimedOut(f64),
}

impl Completion {
    /// The launch, of which nothing has been ended yet.
    pub fn launch(self, floor_kib: u64) -> Launch {
        match self {
            Completion::Ready(total_us) => running(total_us),
            Completion::Ended(total_us, ending, usage) => {
                launch(total_us, ending, &usage, floor_kib, 0)
            }
            Completion::TimedOut(total_us) => {
                Launch { ending: Ending::TimedOut, ..running(total_us) }
            }
        }
    }
}

/// Accounts of a program that has ended (getrusage(2)).
///
/// `floor_kib` is the launcher's own peak just before the launch.
pub fn launch(
    total_us: f64,
    ending: Ending,
    usage: &libc::rusage,
    floor_kib: u64,
    left_running: u32,
) -> Launch {
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    Launch {
        total_us,
        created_us: None,
        ending,
        user_us: Reading::Value(us(usage.ru_utime)),
        system_us: Reading::Value(us(usage.ru_stime)),
        private_kib: None,
        peak_rss_kib: peak_rss(usage.ru_maxrss as u64, floor_kib),
        minor_faults: Reading::Value(usage.ru_minflt as u64),
        major_faults: Reading::Value(usage.ru_majflt as u64),
        read_bytes: read_bytes(usage.ru_inblock as u64),
        left_running,
    }
}

/// `ru_maxrss` starts at the launcher's own peak, so a smaller value cannot be seen.
fn peak_rss(program_kib: u64, floor_kib: u64) -> Reading<u64> {
    if program_kib > floor_kib {
        return Reading::Value(program_kib);
    }
    Reading::unavailable(
        format!("at most {floor_kib} KiB: smaller than the launcher, whose peak it inherits"),
        format!("allow ptrace ({})", Phrase::CheckMachine.words()),
    )
}

/// The launcher's peak resident set, from the account that execve hands on.
pub fn own_peak_kib() -> u64 {
    // SAFETY: an all-zero rusage is valid and outlives the call.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage.ru_maxrss as u64
    }
}

/// `ru_inblock` counts 512-byte blocks where the kernel keeps I/O accounts at all.
fn read_bytes(blocks: u64) -> Reading<u64> {
    if blocks > 0 || fs::exists("/proc/self/io").unwrap_or(false) {
        return Reading::Value(blocks * 512);
    }
    Reading::unavailable(
        "this kernel has no I/O accounting",
        "use a kernel built with CONFIG_TASK_IO_ACCOUNTING",
    )
}

/// Accounts of the launcher's descendants: a program that is ready but still running (proc(5)).
fn running(total_us: f64) -> Launch {
    let mut sum = Running::default();
    for pid in processes::descendants(processes::own_pid()) {
        sum.add(pid);
    }
    let unreadable = |what: &str| {
        Reading::unavailable(
            format!("{what} of the running program could not be read"),
            "run as the user of the program, or as root",
        )
    };
    Launch {
        total_us,
        created_us: None,
        ending: Ending::Ready,
        user_us: Reading::Value(sum.user_us),
        system_us: Reading::Value(sum.system_us),
        private_kib: Some(sum.private_kib.map_or_else(|| unreadable("smaps"), Reading::Value)),
        peak_rss_kib: sum.peak_rss_kib.map_or_else(|| unreadable("VmHWM"), Reading::Value),
        minor_faults: sum.minor_faults.map_or_else(|| unreadable("stat"), Reading::Value),
        major_faults: sum.major_faults.map_or_else(|| unreadable("stat"), Reading::Value),
        read_bytes: sum.read_bytes.map_or_else(|| unreadable("/proc/PID/io"), Reading::Value),
        left_running: 0,
    }
}

#[derive(Default)]
struct Running {
    user_us: f64,
    system_us: f64,
    private_kib: Option<u64>,
    peak_rss_kib: Option<u64>,
    minor_faults: Option<u64>,
    major_faults: Option<u64>,
    read_bytes: Option<u64>,
}

impl Running {
    fn add(&mut self, pid: libc::pid_t) {
        let Some(fields) = processes::stat_fields(pid) else { return };
        let field = |number: usize| fields.get(number - 3).and_then(|text| text.parse().ok());
        // Field numbers of proc_pid_stat(5): minflt, majflt, utime, stime, cutime, cstime.
        add(&mut self.minor_faults, field(10));
        add(&mut self.major_faults, field(12));
        let ticks = |number| field(number).unwrap_or(0) as f64 * tick_us();
        // Its children that have ended are known in ticks of the kernel only.
        self.user_us += ticks(16);
        self.system_us += ticks(17);
        let (user_us, system_us) = split(cpu_time_us(pid), ticks(14), ticks(15));
        self.user_us += user_us;
        self.system_us += system_us;
        add(&mut self.read_bytes, line_value(pid, "io", "read_bytes:"));
        self.private_kib = self.private_kib.max(memory::private_kib(pid));
        let peak = line_value(pid, "status", "VmHWM:");
        self.peak_rss_kib = self.peak_rss_kib.max(peak);
    }
}

/// CPU time of a process to the nanosecond, its threads that have ended included; `None` where it
/// has gone.
fn cpu_time_us(pid: libc::pid_t) -> Option<f64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both values outlive their calls.
    let known = unsafe {
        libc::clock_getcpuclockid(pid, &mut clock) == 0
            && libc::clock_gettime(clock, &mut time) == 0
    };
    known.then(|| time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3)
}

/// Divides a time by the ticks counted in user and kernel mode, as the kernel does for processes
/// that have ended. Below one tick all of it counts as the user's.
fn split(exact_us: Option<f64>, user_us: f64, system_us: f64) -> (f64, f64) {
    let ticks_us = user_us + system_us;
    match exact_us {
        None => (user_us, system_us),
        Some(exact_us) if ticks_us == 0.0 => (exact_us, 0.0),
        Some(exact_us) => (exact_us * user_us / ticks_us, exact_us * system_us / ticks_us),
    }
}

fn add(sum: &mut Option<u64>, value: Option<u64>) {
    if let Some(value) = value {
        *sum = Some(sum.unwrap_or(0) + value);
    }
}

/// The number after `name` in a file of `/proc/PID`.
pub fn line_value(pid: libc::pid_t, file: &str, name: &str) -> Option<u64> {
    processes::line(pid, file, name)?.split_whitespace().next()?.parse().ok()
}

fn tick_us() -> f64 {
    1e6 / rustix::param::clock_ticks_per_second() as f64
}
