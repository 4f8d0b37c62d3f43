//! The process between headstart and its launcher, which outlives both.
//!
//! Whatever a program leaves running is handed to the nearest living subreaper above it: the
//! launcher, and where that one has been killed, the guardian. So three processes would have to be
//! killed at the same moment for a program to remain.
//!
//! headstart dies → the guardian gets SIGTERM and passes it on. The launcher dies → the guardian ends
//! what is left. The guardian dies → the launcher gets SIGTERM and ends what is left.

use super::leave::live_and_die_with;
use super::serve;
use crate::linux::processes;
use rustix::process::Signal;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr::null_mut;
use std::time::Duration;

/// How long the guardian tries to end what a killed launcher left.
const LIMIT: Duration = Duration::from_secs(10);
/// A launcher that has not left this long after SIGTERM is killed.
const PATIENCE: libc::timespec = libc::timespec { tv_sec: 8, tv_nsec: 0 };

/// Starts the launcher and watches over it until its end.
pub fn watch_over(stream: UnixStream, parent: libc::pid_t) {
    let (watched, before) = block_signals();
    close_all_but(&[stream.as_raw_fd()]);
    live_and_die_with(parent, c"guard");
    let own = processes::own_pid();
    // SAFETY: the guardian has one thread, so its copy is whole.
    match unsafe { libc::fork() } {
        -1 => {}
        0 => {
            // SAFETY: the set outlives the call.
            unsafe { libc::sigprocmask(libc::SIG_SETMASK, &before, null_mut()) };
            serve::serve(stream, own)
        }
        launcher => {
            // Only the launcher's end of the stream tells headstart whether it lives.
            drop(stream);
            watch(launcher, &watched);
            processes::end_descendants(own, LIMIT);
        }
    }
}

/// Returns when the launcher has ended; asks it to end when the guardian is asked.
fn watch(launcher: libc::pid_t, watched: &libc::sigset_t) {
    let mut leaving = false;
    loop {
        let patience: *const libc::timespec = if leaving { &PATIENCE } else { null_mut() };
        // SAFETY: the set and the time, where there is one, outlive the call.
        let signal = unsafe { libc::sigtimedwait(watched, null_mut(), patience) };
        if signal == libc::SIGTERM && !leaving {
            leaving = true;
            // The launcher is an unreaped child.
            processes::signal(launcher, Signal::TERM);
        }
        let late = signal < 0 && leaving && std::io::Error::last_os_error().kind() != INTERRUPTED;
        if late || reap(launcher) {
            return;
        }
    }
}

const INTERRUPTED: std::io::ErrorKind = std::io::ErrorKind::Interrupted;

/// Waits for children that have ended; whether `launcher` was one of them.
fn reap(launcher: libc::pid_t) -> bool {
    loop {
        match processes::reap_one() {
            Ok(Some(pid)) if pid == launcher => return true,
            Ok(Some(_)) => {}
            _ => return false,
        }
    }
}

/// Blocks what the guardian waits for, so that nothing is missed; gives it and the mask before.
fn block_signals() -> (libc::sigset_t, libc::sigset_t) {
    // SAFETY: all-zero sets are valid and outlive the calls.
    unsafe {
        let (mut watched, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
        libc::sigemptyset(&mut watched);
        // The last three reach the whole foreground group; headstart decides what follows.
        for signal in [libc::SIGTERM, libc::SIGCHLD, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
            libc::sigaddset(&mut watched, signal);
        }
        libc::sigprocmask(libc::SIG_BLOCK, &watched, &mut before);
        (watched, before)
    }
}

/// Closes what was open in headstart, except for stdio and `kept`: descriptors that it closes
/// later shall be closed then.
pub(crate) fn close_all_but(kept: &[RawFd]) {
    let mut kept: Vec<libc::c_uint> = kept.iter().map(|&fd| fd as libc::c_uint).collect();
    kept.sort_unstable();
    let mut first: libc::c_uint = 3;
    for fd in kept {
        close_between(first, fd.saturating_sub(1));
        first = first.max(fd.saturating_add(1));
    }
    close_between(first, libc::c_uint::MAX);
}

fn close_between(first: libc::c_uint, last: libc::c_uint) {
    if first <= last {
        // SAFETY: passes integers only. Nothing in this process uses them: it never returns to the
        // code that opened them. Before Linux 5.9 they stay open, which only delays.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}
