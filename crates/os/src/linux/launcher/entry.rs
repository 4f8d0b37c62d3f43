//! Launches that are complete when the program's own code begins, at AT_ENTRY.
//!
//! Until then the kernel and the loader have worked: exec, mapping, relocation, the libraries'
//! initializers. What counts is the first image that reaches its entry point: a script's
//! interpreter; a program that executes another one later, not the other. A program started
//! through its loader by hand begins with the loader.
//!
//! The program stops once after execve, to have a breakpoint planted; that time is taken off. A
//! static program is at its entry point then, and does not go on.

use super::alarm::Alarm;
use super::tracee::{self, Next};
use super::usage::{self, Completion};
use super::{LaunchRecord, LaunchSpec, leave};
use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::phrases::Phrase;
use crate::linux::spawn::{Child, Prepared, Setup};
use crate::linux::trace::breakpoints::{BreakpointPurpose, Space};
use crate::linux::trace::start::Auxiliary;
use crate::linux::trace::{arch, ptrace, tracer};
use crate::stdio::Stdio;
use model::{Ending, Launch, MappedVa};
use std::io;

/// EXITKILL: the program does not outlive the launcher.
const OPTIONS: libc::c_int = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACEEXEC;

/// Launches, waits for the entry point, and ends the program and whatever it has started.
pub fn until_entry(
    prepared: &Prepared,
    stdio: &Stdio,
    spec: &LaunchSpec,
) -> Result<LaunchRecord, LaunchError> {
    let alarm = Alarm::set(spec.timeout);
    let child = tracer::start(prepared, Setup::with_stdio(stdio))?;
    let floor_kib = usage::own_peak_kib();
    let outcome = follow(&child, &alarm);
    drop(alarm);
    let launch = outcome.map(|completion| completion.launch(floor_kib));
    let left_running = leave::end_everything();
    let launch = launch.map(|launch| match launch.ending {
        Ending::Code(_) | Ending::Signal(_) => Launch { left_running, ..launch },
        _ => launch,
    })?;
    Ok(LaunchRecord::new(&child, launch))
}

/// From the stop after execve to the entry point.
fn follow(child: &Child, alarm: &Alarm) -> Result<Completion, LaunchError> {
    let mut breakpoint = None;
    let mut held_us = 0.0;
    let mut begun = false;
    loop {
        let next = tracee::next(child, alarm);
        let at = Instant::now();
        let total_us = at.us_since(child.started) - held_us;
        let status = match next {
            None => return Ok(Completion::TimedOut(total_us)),
            Some(Next::Ended(ending, usage)) => {
                return Ok(Completion::Ended(total_us, ending, usage));
            }
            Some(Next::Stopped(status)) => status,
        };
        let mut signal = libc::WSTOPSIG(status);
        if !begun || status >> 16 == libc::PTRACE_EVENT_EXEC {
            begun = true;
            match begin(child, OPTIONS).map_err(|error| in_words(child, error))? {
                Some(entry) => breakpoint = Some(entry),
                None => return Ok(Completion::Ready(total_us)),
            }
            signal = 0;
        } else if signal == libc::SIGTRAP
            && arch::breakpoint_address(child.pid).is_ok_and(|hit| Some(hit) == breakpoint)
        {
            return Ok(Completion::Ready(total_us));
        }
        held_us += Instant::now().us_since(at);
        ptrace::resume(child.pid, ptrace::Resume::Continue(signal));
    }
}

/// What stands in the way of a breakpoint.
enum Obstacle {
    Privileges,
    Unreadable,
    Refused(io::Error),
}

/// Plants a breakpoint at the entry point of the image just executed; `None` where it stands
/// there already.
fn begin(child: &Child, options: libc::c_int) -> Result<Option<MappedVa>, Obstacle> {
    let image = check(child, options)?;
    if arch::instruction_pointer(child.pid).is_ok_and(|present| present == image.entry) {
        return Ok(None);
    }
    // A child that is forked before the entry point has a copy of the breakpoint and may die of
    // it, which it is about to do anyway.
    let planted = Space::new(0).plant(child.pid, image.entry, BreakpointPurpose::Entry);
    planted.map_err(Obstacle::Refused).map(|()| Some(image.entry))
}

/// Chooses `options` for an image that was just executed; refuses one that ptrace changes.
fn check(child: &Child, options: libc::c_int) -> Result<Auxiliary, Obstacle> {
    ptrace::set_options_to(child.pid, options).map_err(Obstacle::Refused)?;
    let image = tracee::executed_image(child.pid).ok_or(Obstacle::Unreadable)?;
    if tracee::lost_privileges(child.pid, &image) {
        return Err(Obstacle::Privileges);
    }
    Ok(image)
}

/// Where the entry point of a copy is.
pub(super) struct CopyEntry {
    /// The breakpoint, where one was asked for.
    pub(super) breakpoint: Option<MappedVa>,
    /// It is there already.
    pub(super) reached: bool,
}

/// Prepares a copy that has just executed its program: chooses `options`, and plants a breakpoint at
/// its entry point where that is to be seen.
pub(super) fn begin_copy(
    child: &Child,
    options: libc::c_int,
    to_entry: bool,
) -> Result<CopyEntry, LaunchError> {
    let mechanism = "looking at the memory of copies";
    let none = |reached| CopyEntry { breakpoint: None, reached };
    let begun = match to_entry {
        true => begin(child, options).map(|breakpoint| match breakpoint {
            None => none(true),
            breakpoint => CopyEntry { breakpoint, reached: false },
        }),
        false => check(child, options).map(|_| none(false)),
    };
    begun.map_err(|obstacle| LaunchError::NotPermitted {
        mechanism,
        reason: format!("{}; run headstart as root", reason(child, obstacle)),
    })
}

fn in_words(child: &Child, obstacle: Obstacle) -> LaunchError {
    let to_exit = Phrase::MeasureToExit.words();
    let reason = format!("{}; run as root, or {to_exit}", reason(child, obstacle));
    LaunchError::NotPermitted { mechanism: "measuring to the entry point", reason }
}

/// What stands in the way, without what helps.
fn reason(child: &Child, obstacle: Obstacle) -> String {
    let program = ptrace::proc_link(child.pid, "exe");
    let program = program.map_or_else(|| "this program".to_owned(), |path| format!("'{path}'"));
    match obstacle {
        Obstacle::Privileges => format!(
            "{program} is set-user-ID, set-group-ID or has capabilities, which it loses under \
             ptrace"
        ),
        Obstacle::Unreadable => {
            format!("the memory of {program} may not be read, because its file is not readable")
        }
        Obstacle::Refused(error) => format!("{program}: {error}"),
    }
}
