//! Functions in order of first call: a breakpoint at the start of every function of every module,
//! planted when the module is mapped and removed when it is hit.
//!
//! Nothing has to be rebuilt, and no permission is needed beyond ptrace. The traced program runs
//! at its own speed once it has called what it calls.

mod filtered;
mod hits;
mod inner_tracer;
mod pe_images;
mod planting;
mod programs;
mod recording;
mod trap_signal;
mod watch;
mod watched;

pub(super) use inner_tracer::Hold;
pub(super) use recording::FunctionRecording;
pub(super) use trap_signal::{TrapDisposition, TrapState};
pub(super) use watch::Watch;

use super::session::Session;
use super::tracer::{self, Limits, OnInterrupt, Tracer};
use super::{TraceRequest, filter};
use crate::functions::{FunctionRequest, Over, RecordUntil, RecordedFunctions};
use crate::linux::LaunchError;
use crate::linux::launcher::{GRACE, ReadyCondition};
use crate::linux::program;
use crate::linux::spawn::{Prepared, Setup};
use crate::stdio::Stdio;
use model::{Command, Ending};
use std::fs::File;
use std::io;
use std::path::Path;

/// Signals by which a program may say that it has started, without `SIG`, and their numbers.
pub const SPARE_SIGNALS: [(&str, i32); 8] = [
    ("USR1", libc::SIGUSR1),
    ("USR2", libc::SIGUSR2),
    ("HUP", libc::SIGHUP),
    ("CONT", libc::SIGCONT),
    ("WINCH", libc::SIGWINCH),
    ("URG", libc::SIGURG),
    ("IO", libc::SIGIO),
    ("CHLD", libc::SIGCHLD),
];

/// Launches `command` under ptrace and records which functions it calls. Nothing of it is left
/// running.
///
/// Addresses are not random in such a launch, where the system permits that. Processes that use
/// ptrace themselves find it taken, unless they share their memory with what they trace, and
/// set-user-ID programs run without that.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where ptrace or seccomp filters are refused, or the program is
/// set-user-ID; [`LaunchError::Interrupted`]; otherwise what an ordinary launch meets.
pub fn functions(
    command: &Command,
    request: &FunctionRequest,
) -> Result<RecordedFunctions, LaunchError> {
    recorded(command, request, OnInterrupt::Drop)
}

/// [`functions`] of a launch that gets the signal by which the user wants to stop, too, and is
/// killed after [`GRACE`]: what was recorded until then is kept.
///
/// # Errors
/// As [`functions`], but the user's wish is none.
pub fn functions_until_interrupt(
    command: &Command,
    request: &FunctionRequest,
) -> Result<RecordedFunctions, LaunchError> {
    recorded(command, request, OnInterrupt::Keep)
}

fn recorded(
    command: &Command,
    request: &FunctionRequest,
    on_interrupt: OnInterrupt,
) -> Result<RecordedFunctions, LaunchError> {
    program::check_not_privileged(&command.program)?;
    check_readable(&command.program)?;
    let prepared = Prepared::new(command, &[])?;
    let limits = Limits { cpu: request.cpu, timeout: request.timeout, grace: GRACE };
    let mut condition = match &request.until {
        RecordUntil::Launch(until) => ReadyCondition::new(until)?,
        RecordUntil::Signal(_) | RecordUntil::Function(_) => None,
    };
    let stdio = match &mut condition {
        Some(condition) => condition.watched(request.stdio.clone()),
        None => request.stdio.clone(),
    };
    let of_launch = stdio.clone();
    let over = Over::default();
    let complete = over.clone();
    let tracing = move |tracer: Tracer| follow(tracer, &prepared, request, of_launch, &complete);
    let (recorded, ending) = tracer::trace_until(limits, on_interrupt, &over, condition, tracing)?;
    // Until now the output that is watched has no end.
    drop(stdio);
    Ok(RecordedFunctions { ending, ready: over.is_over(), ..recorded })
}

/// Refuses a program that may be executed but not read: the kernel hides its memory, too.
fn check_readable(program: &Path) -> Result<(), LaunchError> {
    match File::open(program) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(LaunchError::NotPermitted {
                mechanism: "recording the functions of a program that may not be read",
                reason: format!(
                    "'{}' may only be executed; run headstart as root, or have its owner permit \
                     reading it (chmod a+r)",
                    program.display()
                ),
            })
        }
        _ => Ok(()),
    }
}

/// Everything that happens on the tracer's thread.
fn follow(
    tracer: Tracer,
    prepared: &Prepared,
    request: &FunctionRequest,
    stdio: Stdio,
    over: &Over,
) -> Result<(RecordedFunctions, Ending), LaunchError> {
    let filter = filter::build_of(prepared.program_address(), filtered::stops());
    let setup = Setup { filter: &filter, fixed_addresses: true, ..Setup::with_stdio(&stdio) };
    let child = tracer.start(prepared, setup)?;
    let launch = TraceRequest { cpu: request.cpu, ..TraceRequest::new(stdio.clone()) };
    let mut session = Session::new(&launch, &child, false);
    session.recording = Some(FunctionRecording::new(request, over.clone()));
    session.record()
}
