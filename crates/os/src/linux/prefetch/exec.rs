//! Starts the reading, and becomes the program.

use super::{AheadPlan, reader};
use crate::linux::error::LaunchError;
use crate::linux::processes;
use crate::linux::program::explain_exec_failure;
use crate::linux::spawn::Prepared;
use model::Command;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::io::{self, PipeReader};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A reader that takes longer has a file system that does not answer.
const LONGEST_S: u32 = 60;

/// How much earlier than the program the reader begins, at most: so a program does not read the first
/// pages itself, in other pieces. More gains nothing on slow flash, and costs time on fast flash.
const HEAD_START: Duration = Duration::from_millis(5);
/// The same on a disk with a moving head, which would go back and forth between the reader and the
/// program.
const MOVING_HEAD_START: Duration = Duration::from_secs(2);

/// What the standard library changes before `main`, and a program would inherit: it ignores SIGPIPE, and
/// opens /dev/null where standard input, output or error is closed.
static IGNORED_PIPE: AtomicBool = AtomicBool::new(false);
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

extern "C" fn note_state() {
    // SAFETY: asks only, into a structure that outlives the call; zero bytes are a valid one.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGPIPE, std::ptr::null(), &raw mut now) == 0 {
            IGNORED_PIPE.store(now.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
        }
        for (descriptor, closed) in (0..).zip(&CLOSED) {
            closed.store(libc::fcntl(descriptor, libc::F_GETFD) < 0, Ordering::Relaxed);
        }
    }
}

/// Called before the standard library begins.
// SAFETY: the loader calls each function of this section once; this one needs nothing.
#[unsafe(link_section = ".init_array")]
#[used]
static AT_START: extern "C" fn() = note_state;

/// Whether children of this process's children become its own: of the first process of a container, and of
/// a subreaper. The program would inherit the reader, so there the reading has to be done before.
fn inherits_readers() -> bool {
    let mut answer: libc::c_int = 0;
    // SAFETY: one number has room.
    let told = unsafe { libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut answer) };
    rustix::process::getpid().is_init() || (told == 0 && answer != 0)
}

/// Whether a child would be the first process of a namespace (unshare(2), CLONE_NEWPID), which would end
/// with it, and the program could start no other.
fn would_found_namespace() -> bool {
    let is_there = |path: &str| std::path::Path::new(path).exists();
    !is_there("/proc/self/ns/pid_for_children") && is_there("/proc/self")
}

/// Becomes the program of `command`. If there is a plan, another process asks for it at the same
/// time. To be called while this process has a single thread.
///
/// Returns only if the program cannot be started, and why.
pub fn become_program(command: &Command, plan: Option<&AheadPlan>) -> LaunchError {
    let prepared = match Prepared::new(command, &[]) {
        Ok(prepared) => prepared,
        Err(error) => return error,
    };
    match plan {
        Some(plan) if inherits_readers() => drop(reader::read_ahead(plan)),
        Some(plan) if !would_found_namespace() => start_reader(plan),
        _ => {}
    }
    let closed = (0..).zip(&CLOSED).filter(|(_, closed)| closed.load(Ordering::Relaxed));
    let closed: Vec<RawFd> = closed.map(|(descriptor, _)| descriptor).collect();
    let pipe = if IGNORED_PIPE.load(Ordering::Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: sets a disposition without a handler, and closes what the standard library has opened; the
    // strings and lists are owned by `prepared`.
    let error = unsafe {
        libc::signal(libc::SIGPIPE, pipe);
        for descriptor in closed {
            libc::close(descriptor);
        }
        prepared.execute();
        io::Error::last_os_error()
    };
    explain_exec_failure(&command.program, error)
}

/// Forks twice, so that the reader is no child of the program, and gives it a moment. Where that fails,
/// nothing is read ahead.
///
/// The first child has given up everything of the caller's before this returns, so nothing that the
/// program closes stays open in the reader. Its end is told by no signal: a program that waits for
/// signals must not be told of a child that it does not have.
fn start_reader(plan: &AheadPlan) {
    let Ok((done, asking)) = io::pipe() else { return };
    // SAFETY: this process has a single thread, so its children may do anything: clone(2) without flags
    // is a fork. Neither child returns from here.
    let child = unsafe {
        let child = libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) as libc::pid_t;
        if child == 0 {
            leave(asking.as_raw_fd());
            if libc::fork() == 0 {
                libc::alarm(LONGEST_S);
                let _ = std::panic::catch_unwind(|| reader::read_ahead(plan));
            }
            libc::_exit(0);
        }
        child
    };
    drop(asking);
    if child > 0 {
        processes::wait_for(child, processes::ALL_KINDS);
        let most = if plan.in_disk_order { MOVING_HEAD_START } else { HEAD_START };
        wait_for_end(&done, most);
    }
}

/// Waits until the reader has asked for everything, which closes its end of the pipe; no longer than
/// `most`.
fn wait_for_end(done: &PipeReader, most: Duration) {
    let mut watched = [PollFd::new(done, PollFlags::IN)];
    let limit = Timespec::try_from(most).ok();
    // Interrupted or not: the program starts.
    let _ = rustix::event::poll(&mut watched, limit.as_ref());
}

/// Gives up what the reader has from headstart's caller: its session, its folder, its descriptors but
/// `kept`.
///
/// # Safety
/// Nobody uses another descriptor afterwards but by opening it.
unsafe fn leave(kept: RawFd) {
    // SAFETY: as above; the path is a string with a NUL.
    unsafe {
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        let kept = kept as u32;
        if let Some(last) = kept.checked_sub(1) {
            libc::syscall(libc::SYS_close_range, 0, last, 0);
        }
        libc::syscall(libc::SYS_close_range, kept + 1, u32::MAX, 0);
        // Standard input, output and error, as the lowest numbers are given first.
        for _ in 0..3 {
            libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        }
    }
}
