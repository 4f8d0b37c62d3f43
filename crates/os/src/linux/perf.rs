//! perf events of our own children, without the `perf` program: perf_event_open(2); and the kernel's own
//! trace.

mod attr;
mod instance;
mod mappings;
mod opening;
mod page_cache;
mod pipes;
mod record;
mod ring;
mod trace_page;
mod tracefs;

pub(crate) use attr::{Attr, EventKind};
#[cfg(test)]
pub(crate) use instance::has_trace;
pub(crate) use instance::{Trace, TraceInstance};
pub(crate) use mappings::mappings;
pub(crate) use opening::{cpus, open, scope};
pub(crate) use page_cache::{Added, PageCacheAdditions, is_unnamed, kernel_device};
pub(crate) use pipes::TracePipes;
pub(crate) use record::Record;
pub(crate) use ring::Rings;
pub(crate) use tracefs::{Tracefs, Tracepoint};

use std::io;

/// Whether the calling user may record its own programs with perf, and with the kernel's part.
///
/// # Errors
/// The kernel's answer to the least demanding request.
pub fn permitted() -> io::Result<Scope> {
    let attempt = |scope| Attr::new(EventKind::MinorFaults, scope).open(-1).map(|_| scope);
    attempt(Scope::UserAndKernel).or_else(|_| attempt(Scope::User))
}

/// Whose page faults and whose code are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of user-mode instructions.
    User,
    /// Also those of system calls that touch the program's memory.
    UserAndKernel,
}

/// Why perf_event_open was refused and what would allow it.
pub fn refusal(error: &io::Error) -> String {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let paranoid = paranoid.ok().and_then(|text| text.trim().parse::<i32>().ok());
    match (error.raw_os_error(), paranoid) {
        (Some(libc::EACCES | libc::EPERM), Some(level)) if level > 2 => format!(
            "kernel.perf_event_paranoid is {level}; allow it with: \
             sudo sysctl kernel.perf_event_paranoid=2"
        ),
        (Some(libc::EACCES | libc::EPERM), Some(level)) => format!(
            "perf_event_open is refused although kernel.perf_event_paranoid is {level}, as \
             containers do; allow it there (docker run --cap-add PERFMON) or run outside"
        ),
        (Some(libc::ENOSYS) | None, _) | (_, None) => {
            "this kernel has no perf events, or a container hides them; run outside it".into()
        }
        _ => format!("perf_event_open failed: {error}"),
    }
}
