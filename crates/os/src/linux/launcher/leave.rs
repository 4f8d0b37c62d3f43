//! When the launcher has to leave, and what it does then: nothing of its programs stays behind.

use crate::linux::processes;
use rustix::process::{
    Pid, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal,
};
use rustix::thread::set_name;
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
    for signal in [SIGTERM, SIGALRM, SIGINT, SIGHUP, SIGQUIT] {
        // SAFETY: plain system calls; the handler only stores to an atomic.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
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
    // None of these fails on a kernel that has them.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let _ = set_child_subreaper(Some(getpid()));
    let _ = set_name(name);
    // A parent that died before its death became a signal is noticed by its changed id.
    if Pid::as_raw(getppid()) != parent {
        // SAFETY: leaves without running the parent's exit handlers a second time.
        unsafe { libc::_exit(0) };
    }
}
