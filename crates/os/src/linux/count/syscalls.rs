//! System calls, counted by ptrace(2): a stop at each entry and each exit.

use super::{CountError, Counted};
use crate::linux::attend::AttendOptions;
use crate::linux::error::LaunchError;
use crate::linux::launcher::{GRACE, Stdio};
use crate::linux::spawn::{Prepared, Setup};
use crate::linux::trace::ptrace::{self, Tid};
use crate::linux::trace::tracer::{self, Limits};
use model::{Command, Ending, Reading};
use std::collections::HashSet;

/// A stop at a system call, told from a SIGTRAP by PTRACE_O_TRACESYSGOOD.
const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;

/// Launches `command` and counts the system calls of all its processes and threads, until the
/// launched process ends; the execve that starts it is not among them. stdin, stdout and stderr
/// are `/dev/null`. A process that stops itself goes on at once. What is left running is ended.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where ptrace is refused; [`LaunchError::Interrupted`]; else what
/// any launch meets.
pub fn syscalls(command: &Command, options: &AttendOptions) -> Result<Counted, CountError> {
    let prepared = Prepared::new(command, &[])?;
    let null = Stdio::null()?;
    let setup = Setup::with_stdio(&null);
    let limits = Limits { cpu: options.cpu, timeout: options.timeout, grace: GRACE };
    let (count, ending) =
        tracer::trace(limits, move |tracer| follow(tracer.start(&prepared, setup)?.pid))?;
    Ok(Counted { count: Reading::Value(count), ending })
}

/// Resumes every stop until `root` has ended.
fn follow(root: Tid) -> Result<(u64, Ending), LaunchError> {
    let mut count = 0;
    let mut known = HashSet::new();
    loop {
        let (tid, status) = ptrace::wait_any()?.ok_or(LaunchError::LauncherGone)?;
        if libc::WIFSTOPPED(status) {
            let first = known.insert(tid);
            if first && tid == root {
                // A process that was killed just now is reported next.
                let _ = ptrace::set_options_to(tid, OPTIONS);
            }
            let signal = stopped(tid, status, first, &mut count);
            resume(tid, signal);
            continue;
        }
        known.remove(&tid);
        if tid == root {
            return Ok((count, ptrace::ending(status)));
        }
    }
}

const OPTIONS: libc::c_int = libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_EXITKILL;

/// Counts where the stop is an entry; gives the signal to go on with.
fn stopped(tid: Tid, status: i32, first: bool, count: &mut u64) -> i32 {
    match (libc::WSTOPSIG(status), status >> 16) {
        (SYSCALL_STOP, _) => {
            *count += u64::from(is_entry(tid));
            0
        }
        // Births and execve.
        (_, 1..) => 0,
        // A new thread's first stop, and the one after the launch's own execve.
        (libc::SIGSTOP | libc::SIGTRAP, _) if first => 0,
        (signal, _) => signal,
    }
}

/// Whether the present system-call stop is one at the entry: asked of the kernel (Linux 5.3),
/// as turn and turn about would be wrong after an execve or a restarted call.
fn is_entry(tid: Tid) -> bool {
    let size = size_of::<libc::ptrace_syscall_info>();
    // SAFETY: all-zero is a valid value, the kernel fills at most `size` bytes of it, and `op` is
    // an integer.
    unsafe {
        let mut info: libc::ptrace_syscall_info = std::mem::zeroed();
        let target = std::ptr::from_mut(&mut info);
        libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, tid, size, target) > 0
            && info.op == libc::PTRACE_SYSCALL_INFO_ENTRY
    }
}

/// To the next system call. A tracee that was killed meanwhile is no error: its end follows.
fn resume(tid: Tid, signal: i32) {
    // SAFETY: passes integers only.
    unsafe { libc::ptrace(libc::PTRACE_SYSCALL, tid, 0, libc::c_long::from(signal)) };
}
