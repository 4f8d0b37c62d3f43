//! The exact peak RSS of a program that is smaller than its launcher.
//!
//! The kernel's account of an ended process starts at its launcher's peak, so it cannot show a
//! smaller one. The account of a running process can: one extra, untimed launch is stopped as it
//! exits (ptrace(2), PTRACE_EVENT_EXIT) and its VmHWM read.

use super::alarm::Alarm;
use super::tracee::{self, Next};
use super::{leave, usage};
use crate::linux::error::LaunchError;
use crate::linux::phrases::Phrase;
use crate::linux::spawn::{Child, Prepared, Setup};
use crate::linux::trace::ptrace::{self, Resume};
use crate::linux::trace::tracer;
use crate::stdio::Stdio;
use model::Reading;
use std::time::Duration;

const OPTIONS: libc::c_int = libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_EXITKILL;

/// Launches the program once more and reads its peak as it exits.
pub fn measure(
    prepared: &Prepared,
    stdio: &Stdio,
    timeout: Duration,
) -> Result<Reading<u64>, LaunchError> {
    let alarm = Alarm::set(timeout);
    let child = match tracer::start(prepared, Setup::with_stdio(stdio)) {
        Ok(child) => child,
        Err(error) => return Ok(untraceable(&error.to_string())),
    };
    let peak = peak_at_exit(&child, &alarm);
    // A process that is exiting ignores the signal; any other one stops once more as it exits.
    ptrace::kill(child.pid);
    ptrace::resume(child.pid, Resume::Continue(0));
    while let Some(Next::Stopped(_)) = tracee::next(&child, &alarm) {
        ptrace::resume(child.pid, Resume::Continue(0));
    }
    drop(alarm);
    leave::end_everything();
    Ok(peak.map_or_else(untraceable, Reading::Value))
}

fn untraceable(why: &str) -> Reading<u64> {
    Reading::unavailable(
        format!(
            "smaller than the launcher, whose peak it inherits, and it could not be traced: \
             {why}"
        ),
        format!("allow ptrace ({})", Phrase::CheckMachine.words()),
    )
}

fn peak_at_exit(child: &Child, alarm: &Alarm) -> Result<u64, &'static str> {
    const UNSEEN: &str = "its exit was not seen";
    let Some(Next::Stopped(_)) = tracee::next(child, alarm) else { return Err(UNSEEN) };
    let image = tracee::executed_image(child.pid);
    if image.is_some_and(|image| tracee::lost_privileges(child.pid, &image)) {
        return Err("it would lose its privileges under ptrace");
    }
    if ptrace::set_options_to(child.pid, OPTIONS).is_err() {
        return Err(UNSEEN);
    }
    let mut signal = 0;
    loop {
        ptrace::resume(child.pid, Resume::Continue(signal));
        let Some(Next::Stopped(status)) = tracee::next(child, alarm) else { return Err(UNSEEN) };
        if status >> 16 == libc::PTRACE_EVENT_EXIT {
            let peak = usage::line_value(child.pid, "status", "VmHWM:");
            return peak.ok_or("its status could not be read");
        }
        // Signals are the program's own; the trap of a later execve is ours.
        signal = Some(libc::WSTOPSIG(status)).filter(|&s| s != libc::SIGTRAP).unwrap_or(0);
    }
}
