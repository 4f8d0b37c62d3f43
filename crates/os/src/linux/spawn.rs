//! The cheapest way to start a program: clone(CLONE_VM | CLONE_VFORK | CLONE_PIDFD) + execve.
//!
//! The child shares the parent's memory until execve, so the cost does not grow with the
//! parent's size, and it does nothing but a handful of raw system calls.

mod child;
mod failed;
mod prepared;

pub use prepared::Prepared;

use super::clock::Instant;
use super::error::LaunchError;
use super::processes;
use crate::stdio::Stdio;
use child::{Failure, Shared};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

/// What the child does to itself before execve.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Becomes stdin, stdout and stderr.
    pub stdio: &'a Stdio,
    /// CPU to run on; the parent's affinity where none is given.
    pub cpu: Option<u32>,
    /// PTRACE_TRACEME: the calling thread becomes the tracer and sees a stop at execve.
    pub trace_me: bool,
    /// The addresses of the program's memory are not random, where that is permitted.
    pub fixed_addresses: bool,
    /// Seccomp filter, installed with PR_SET_NO_NEW_PRIVS. An empty list installs none.
    pub filter: &'a [libc::sock_filter],
}

impl<'a> Setup<'a> {
    /// The given stdio and nothing else.
    pub fn with_stdio(stdio: &'a Stdio) -> Self {
        Setup { stdio, cpu: None, trace_me: false, fixed_addresses: false, filter: &[] }
    }
}

/// A started process.
pub struct Child {
    /// Process id.
    pub pid: libc::pid_t,
    /// Refers to the process even after its id is used again.
    pub pidfd: OwnedFd,
    /// Taken just before the clone call.
    pub started: Instant,
    /// Taken by the child just before it called execve.
    pub exec_called: Instant,
}

const STACK_BYTES: usize = 64 * 1024;

/// How long a file that is open for writing is waited for. Whoever forks while another thread
/// writes a program hands the open file to its child for the moment until that one executes.
const BUSY_LIMIT: Duration = Duration::from_millis(100);
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// Starts `prepared`. On return the child has passed execve (or this is an error).
///
/// The child dies with the calling thread (PR_SET_PDEATHSIG), so call it from a thread that
/// lives as long as the launch. A file that is open for writing somewhere (ETXTBSY) is tried
/// again for a tenth of a second; only the try that succeeds is timed.
///
/// # Errors
/// What the kernel refused, found out by looking at the files concerned.
pub fn spawn(prepared: &Prepared, setup: Setup<'_>) -> Result<Child, LaunchError> {
    let stack = stack().map_err(|source| failed::clone(prepared, source))?;
    let deadline = std::time::Instant::now() + BUSY_LIMIT;
    loop {
        match spawn_once(prepared, setup, stack) {
            Ok(Ok(child)) => return Ok(child),
            Ok(Err(failure)) if is_busy(failure) && std::time::Instant::now() < deadline => {
                std::thread::sleep(BUSY_PAUSE);
            }
            Ok(Err(failure)) => return Err(failed::explain(prepared, failure)),
            Err(source) => return Err(failed::clone(prepared, source)),
        }
    }
}

fn is_busy(failure: Failure) -> bool {
    failure.errno == libc::ETXTBSY
}

/// One try: the outer error is clone's, the inner one the child's.
fn spawn_once(
    prepared: &Prepared,
    setup: Setup<'_>,
    stack: *mut u8,
) -> io::Result<Result<Child, Failure>> {
    // SAFETY: an all-zero sigset_t is a valid empty set.
    let (mask, parent) = (unsafe { std::mem::zeroed() }, processes::own_pid());
    let exec_called = Instant::now();
    let mut shared = Shared { prepared, setup, mask, parent, exec_called, failure: None };
    let mut pidfd: RawFd = -1;
    // SAFETY: all signals are blocked while the child shares our memory, so none of our handlers
    // runs in it; `shared` and the stack outlive the child's use of them because CLONE_VFORK
    // suspends this thread until execve or _exit.
    let (pid, started, source) = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut shared.mask);
        let started = Instant::now();
        let pid = libc::clone(
            child::main,
            stack.add(STACK_BYTES).cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD,
            ptr::from_mut(&mut shared).cast(),
            &mut pidfd,
        );
        let source = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &shared.mask, ptr::null_mut());
        (pid, started, source)
    };
    if pid < 0 {
        return Err(source);
    }
    // SAFETY: the kernel has just created this descriptor for us.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // SAFETY: the child wrote both before execve or its end, and we resumed after that.
    let (failure, exec_called) =
        unsafe { (ptr::read_volatile(&shared.failure), ptr::read_volatile(&shared.exec_called)) };
    if let Some(failure) = failure {
        processes::wait_for(pid, processes::ALL_KINDS);
        return Ok(Err(failure));
    }
    Ok(Ok(Child { pid, pidfd, started, exec_called }))
}

/// The lowest address of this thread's stack for children.
fn stack() -> io::Result<*mut u8> {
    thread_local!(static STACK: std::cell::Cell<*mut u8> = const { std::cell::Cell::new(ptr::null_mut()) });
    STACK.with(|cell| {
        if cell.get().is_null() {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            let flags = MapFlags::PRIVATE | MapFlags::STACK;
            // SAFETY: a fresh private mapping; it is kept for the life of the thread.
            let mapped = unsafe { mmap_anonymous(ptr::null_mut(), STACK_BYTES, protection, flags) };
            cell.set(mapped?.cast());
        }
        Ok(cell.get())
    })
}

#[cfg(test)]
mod tests;
