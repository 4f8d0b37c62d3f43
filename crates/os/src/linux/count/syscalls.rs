//! System calls, counted by ptrace(2): a stop at each entry and each exit.

use super::{CountError, Counted};
use crate::linux::attend::Options;
use crate::linux::error::LaunchError;
use crate::linux::host;
use crate::linux::interrupt;
use crate::linux::launcher::dev_null;
use crate::linux::spawn::{Child, Prepared, Setup, spawn};
use crate::linux::trace::{permitted, ptrace};
use model::{Command, Ending, Reading};
use ptrace::Tid;
use std::collections::HashSet;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A stop at a system call, told from a SIGTRAP by PTRACE_O_TRACESYSGOOD.
const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;
/// How often a wait looks up for an interrupt.
const LOOK_UP: Duration = Duration::from_millis(100);

/// Launches `command` and counts the system calls of all its processes and threads, until the
/// launched process ends; the execve that starts it is not among them. stdin, stdout and stderr
/// are `/dev/null`. A process that stops itself goes on at once. What is left running is ended.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where ptrace is refused; else what any launch meets.
pub fn syscalls(command: &Command, options: &Options) -> Result<Counted, CountError> {
    let prepared = Prepared::new(command, &[])?;
    let (started, on_start) = channel();
    let (done, on_done) = channel();
    let counted = thread::scope(|scope| {
        // ptrace ties tracees to one thread; they end with it (PTRACE_O_EXITKILL).
        scope.spawn(move || {
            // The receiver waits for this message, so it cannot be gone.
            let _ = done.send(count(&prepared, options.cpu, &started));
        });
        wait(&on_start, &on_done, options.timeout)
    })?;
    Ok(counted)
}

/// Waits for the count; ends the launch where it takes too long or the user wants to stop.
fn wait(
    on_start: &Receiver<OwnedFd>,
    on_done: &Receiver<Result<Counted, LaunchError>>,
    timeout: Duration,
) -> Result<Counted, LaunchError> {
    let began = Instant::now();
    loop {
        let left = timeout.saturating_sub(began.elapsed());
        match on_done.recv_timeout(left.min(LOOK_UP)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(LaunchError::LauncherGone),
            Err(RecvTimeoutError::Timeout) if interrupt::requested() => {
                end(on_start, on_done)?;
                return Err(LaunchError::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                let counted = end(on_start, on_done)?;
                return Ok(match counted.ending {
                    Ending::Signal(libc::SIGKILL) => {
                        Counted { ending: Ending::TimedOut, ..counted }
                    }
                    _ => counted,
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Kills the launched process and gives what was counted until then.
fn end(
    on_start: &Receiver<OwnedFd>,
    on_done: &Receiver<Result<Counted, LaunchError>>,
) -> Result<Counted, LaunchError> {
    if let Ok(process) = on_start.recv() {
        let fd = process.as_raw_fd();
        // SAFETY: passes a descriptor that is open and integers.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, libc::SIGKILL, 0, 0) };
    }
    on_done.recv().unwrap_or(Err(LaunchError::LauncherGone))
}

/// Everything that happens on the tracer's thread.
fn count(
    prepared: &Prepared,
    cpu: Option<u32>,
    started: &Sender<OwnedFd>,
) -> Result<Counted, LaunchError> {
    if let Some(cpu) = cpu {
        // One CPU for tracer and tracee makes stops several times cheaper.
        host::pin(&[cpu]).map_err(|source| LaunchError::System {
            action: "running the tracer on one CPU",
            source,
            remedy: "choose a CPU that taskset -p $$ lists",
        })?;
    }
    let null = dev_null()?;
    let stdio = [null.as_raw_fd(); 3];
    let setup = Setup { stdio, cpu: None, trace_me: true, filter: &[] };
    let child = match spawn(prepared, setup) {
        Ok(child) => child,
        Err(error) => return Err(permitted().err().unwrap_or(error)),
    };
    let Child { pid, pidfd, .. } = child;
    // The receiver outlives this thread.
    let _ = started.send(pidfd);
    follow(pid)
}

/// Resumes every stop until `root` has ended.
fn follow(root: Tid) -> Result<Counted, LaunchError> {
    let mut count = 0;
    let mut known = HashSet::new();
    loop {
        let Some((tid, status)) = ptrace::wait_any().map_err(|source| LaunchError::System {
            action: "waiting for the traced program",
            source,
            remedy: "run the command again",
        })?
        else {
            return Err(LaunchError::LauncherGone);
        };
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
            let ending = if libc::WIFSIGNALED(status) {
                Ending::Signal(libc::WTERMSIG(status))
            } else {
                Ending::Code(libc::WEXITSTATUS(status))
            };
            return Ok(Counted { count: Reading::Value(count), ending });
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
