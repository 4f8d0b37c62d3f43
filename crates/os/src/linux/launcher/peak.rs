//! The exact peak RSS of a program that is smaller than its launcher.
//!
//! The kernel's account of an ended process starts at its launcher's peak, so it cannot show a
//! smaller one. The account of a running process can: one extra, untimed launch is stopped as it
//! exits (ptrace(2), PTRACE_EVENT_EXIT) and its VmHWM read.

use super::{serve, usage};
use crate::linux::error::LaunchError;
use crate::linux::spawn::{Child, Prepared, Setup, spawn};
use model::Reading;
use std::os::fd::RawFd;
use std::ptr::null_mut;

/// Launches the program once more and reads its peak as it exits.
pub fn measure(prepared: &Prepared, stdio: [RawFd; 3]) -> Result<Reading<u64>, LaunchError> {
    let setup = Setup { trace_me: true, ..Setup::with_stdio(stdio) };
    let child = match spawn(prepared, setup) {
        Ok(child) => child,
        Err(error) => return Ok(untraceable(&error.to_string())),
    };
    let peak = peak_at_exit(&child);
    // SAFETY: no pointers are followed. A process that is exiting goes on when it is let go and
    // ignores SIGKILL; any other one gets that signal with the release.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, child.pid, null_mut::<u8>(), libc::SIGKILL) };
    while serve::wait(&child).is_none() {}
    serve::end_everything();
    Ok(peak.map_or_else(|| untraceable("it was not seen to exit"), Reading::Value))
}

fn untraceable(why: &str) -> Reading<u64> {
    Reading::unavailable(
        format!("smaller than the launcher, whose peak it inherits, and not traceable: {why}"),
        "allow ptrace (headstart doctor)",
    )
}

fn peak_at_exit(child: &Child) -> Option<u64> {
    stop(child)?;
    let options = libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_EXITKILL;
    // SAFETY: the child is stopped and ours to trace; options are passed by value.
    unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, child.pid, null_mut::<u8>(), options) };
    let mut signal = 0;
    loop {
        // SAFETY: as above.
        unsafe { libc::ptrace(libc::PTRACE_CONT, child.pid, null_mut::<u8>(), signal) };
        let status = stop(child)?;
        if status >> 16 == libc::PTRACE_EVENT_EXIT {
            return usage::line_value(child.pid, "status", "VmHWM:");
        }
        // Signals are the program's own; the trap of a later execve is ours.
        signal = Some(libc::WSTOPSIG(status)).filter(|&s| s != libc::SIGTRAP).unwrap_or(0);
    }
}

/// Waits for the child's next stop; `None` when it has ended.
fn stop(child: &Child) -> Option<libc::c_int> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let pid = unsafe { libc::waitpid(child.pid, &mut status, libc::__WALL) };
    (pid == child.pid && libc::WIFSTOPPED(status)).then_some(status)
}
