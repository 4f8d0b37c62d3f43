//! When the launcher has to leave, and what it does then: nothing of its programs stays behind.

use crate::linux::{interrupt, processes};
use rustix::process::{
    Pid, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal,
};
use rustix::thread::set_name;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static LEAVE: AtomicBool = AtomicBool::new(false);

/// Whether headstart has gone or wants the launcher gone.
pub fn told_to_leave() -> bool {
    LEAVE.load(Ordering::Relaxed)
}

extern "C" fn on_signal(signal: libc::c_int) {
    // SIGALRM only interrupts a wait. The others reach the whole foreground group; headstart
    // decides what follows.
    if signal == libc::SIGTERM {
        LEAVE.store(true, Ordering::Relaxed);
    }
}

/// Installs the handlers.
pub fn listen() {
    use libc::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    // SAFETY: the handler only stores to an atomic.
    unsafe { interrupt::handle(&[SIGTERM, SIGALRM, SIGINT, SIGHUP, SIGQUIT], on_signal) };
}

/// Ends every descendant and waits for it; gives the number of processes that were there.
pub fn end_everything() -> u32 {
    if !processes::has_children() {
        return 0;
    }
    processes::end_descendants(processes::own_pid(), Duration::from_secs(5))
}

/// Makes the calling process inherit its descendants' orphans, and get SIGTERM when `parent` dies.
pub fn live_and_die_with(parent: libc::pid_t, name: &std::ffi::CStr) {
    if !lives_with(parent, name) {
        exit();
    }
}

/// As [`live_and_die_with`], for a process that has something to do then; whether `parent` lives.
pub fn lives_with(parent: libc::pid_t, name: &std::ffi::CStr) -> bool {
    // None of these fails on a kernel that has them.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let _ = set_child_subreaper(Some(getpid()));
    let _ = set_name(name);
    // A parent that died before its death became a signal is noticed by its changed id.
    Pid::as_raw(getppid()) == parent
}

/// Forks a process that lives `life`, with one end of a stream and the id of its parent; gives the
/// other end and its id.
pub fn fork(life: impl FnOnce(UnixStream, libc::pid_t)) -> io::Result<(UnixStream, libc::pid_t)> {
    let (ours, theirs) = UnixStream::pair()?;
    let parent = processes::own_pid();
    // SAFETY: the child lives its life and leaves with _exit; the allocator that
    // it uses is made usable after fork by the C library.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(ours);
            life(theirs, parent);
            exit()
        }
        pid => Ok((ours, pid)),
    }
}

/// Ends the calling process without running its parent's exit handlers a second time.
pub fn exit() -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(0) }
}
