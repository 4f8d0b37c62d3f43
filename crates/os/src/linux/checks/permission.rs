//! What this user may do: each answer is the kernel's to an attempt, not a reading of settings.

use super::{Outcome, read, words};
use crate::linux::launcher::set_policy;
use crate::linux::perf::{self, Scope};
use crate::linux::phrases::Phrase;
use crate::linux::{faults, processes, trace};
use model::Check;
use rustix::process::{Resource, getrlimit};

const CAP_IPC_LOCK: u64 = 1 << 14;
/// Headstart's own memory is far smaller.
const ENOUGH_LOCKED_BYTES: u64 = 64 << 20;

/// perf events of our own programs.
pub(super) fn perf_events() -> Check {
    let level = read("/proc/sys/kernel/perf_event_paranoid");
    let level = level.map_or_else(|_| "is not readable".to_owned(), |value| format!("is {value}"));
    let level = format!("kernel.perf_event_paranoid {level}");
    let outcome = match perf::permitted() {
        Ok(Scope::UserAndKernel) => {
            Outcome::good(format!("permitted ({level})"), "page faults are recorded by address")
        }
        Ok(Scope::User) => Outcome::good(
            format!("permitted in user mode ({level})"),
            "page faults are recorded by address, except for the few inside system calls",
        ),
        Err(error) => Outcome::warning(
            format!("refused ({level}: {})", words(&error)),
            "page faults are known only in total, not per library",
        )
        .remedy("sudo sysctl kernel.perf_event_paranoid=2"),
    };
    outcome.named("perf-events")
}

/// The tracepoint that tells which files are read.
pub(super) fn reads_by_file() -> Check {
    let outcome = match faults::reads_by_file_permitted() {
        Ok(()) => Outcome::good("tracepoints are permitted", "bytes read are known for every file"),
        Err(error) => Outcome::note(
            format!("tracepoints are not permitted ({})", words(&error)),
            "bytes read are known only in total; as root, they are known per file",
        ),
    };
    outcome.named("tracefs")
}

/// Whether a child can be traced.
pub(super) fn ptrace() -> Check {
    let scope = read("/proc/sys/kernel/yama/ptrace_scope");
    let scope = scope.map_or_else(
        |_| "no Yama restriction".to_owned(),
        |value| format!("kernel.yama.ptrace_scope is {value}"),
    );
    let outcome = match trace::permitted() {
        Ok(()) => Outcome::good(format!("works ({scope})"), "phases are measured exactly"),
        Err(error) => Outcome::warning(
            format!("refused ({scope}): {error}"),
            "phases are estimated from the loader's log; entry, main and exit are missing",
        )
        .remedy("sudo sysctl kernel.yama.ptrace_scope=1"),
    };
    outcome.named("ptrace")
}

/// Whether real-time launches get SCHED_FIFO.
pub(super) fn realtime() -> Check {
    // In a thread of its own: its scheduling ends with it.
    let attempt = std::thread::spawn(|| set_policy(libc::SCHED_FIFO, 1));
    let realtime = Phrase::Realtime.words();
    let outcome = match attempt.join() {
        Ok(Ok(())) => Outcome::good("SCHED_FIFO is permitted", format!("{realtime} works")),
        Ok(Err(_)) => Outcome::note(
            format!("SCHED_FIFO is refused (ulimit -r is {})", soft_limit(Resource::Rtprio)),
            format!("{realtime} does not work; launches may be interrupted by other programs"),
        )
        .remedy("sudo prlimit --pid $$ --rtprio=99"),
        Err(_) => Outcome::unknown("the check failed", format!("{realtime} may not work")),
    };
    outcome.named("realtime")
}

/// Whether real-time launches can lock headstart's memory.
pub(super) fn locked_memory() -> Check {
    let capabilities = processes::line(processes::own_pid(), "status", "CapEff:");
    let capabilities = capabilities.and_then(|bits| u64::from_str_radix(&bits, 16).ok());
    let privileged = capabilities.is_some_and(|bits| bits & CAP_IPC_LOCK != 0);
    let limit = soft_limit(Resource::Memlock);
    let found = match limit {
        libc::RLIM_INFINITY => "unlimited".to_owned(),
        bytes => format!("{} KiB (ulimit -l)", bytes / 1024),
    };
    let realtime = Phrase::Realtime.words();
    let can = format!("{realtime} can lock headstart's memory");
    let outcome = if privileged {
        Outcome::good("unlimited (CAP_IPC_LOCK)", can)
    } else if limit >= ENOUGH_LOCKED_BYTES {
        Outcome::good(found, can)
    } else {
        let cannot = format!("{realtime} cannot lock headstart's memory against page faults");
        Outcome::note(found, cannot).remedy("sudo prlimit --pid $$ --memlock=unlimited")
    };
    outcome.named("locked-memory")
}

/// The soft limit; RLIM_INFINITY for none.
fn soft_limit(resource: Resource) -> u64 {
    getrlimit(resource).current.unwrap_or(libc::RLIM_INFINITY)
}
