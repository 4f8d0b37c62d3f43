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
use super::tracer::{self, Limits, OnInterrupt, Over, Tracer};
use super::{TraceRequest, filter};
use crate::linux::LaunchError;
use crate::linux::launcher::{GRACE, ReadyCondition};
use crate::linux::program;
use crate::linux::spawn::{Prepared, Setup};
use crate::stdio::Stdio;
use image::FunctionStarts;
use model::{Command, Ending, ExecutedProgram, MappedVa, ModuleId, Rva, Until};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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

/// What is recorded, and until when.
#[derive(Clone, Debug)]
pub struct FunctionRequest {
    /// The launch is complete then, and is ended.
    pub until: RecordUntil,
    /// Recording ends after this time; the program goes on.
    pub first: Option<Duration>,
    /// Calls are counted, each function's up to this many. Every call is then two stops.
    pub count_limit: Option<u64>,
    /// The launch is ended after this time: by SIGTERM, and after [`GRACE`] by SIGKILL.
    pub timeout: Duration,
    /// CPU for tracer and tracees, which makes stops several times cheaper.
    pub cpu: Option<u32>,
    /// Becomes stdin, stdout and stderr.
    pub stdio: Stdio,
}

/// When a recorded launch is complete.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordUntil {
    /// As for a measured launch.
    Launch(Until),
    /// A process of the launch gets this signal, which is not delivered.
    Signal(i32),
    /// A function of this name is called.
    Function(String),
}

/// Functions that a launch called.
#[derive(Clone, Debug)]
pub struct RecordedFunctions {
    /// Modules in the order in which they were first mapped.
    pub modules: Vec<RecordedModule>,
    /// Programs that processes executed, and forks of them that called anything.
    pub programs: Vec<ExecutedProgram>,
    /// First calls in order.
    pub calls: Vec<RecordedCall>,
    /// What could not be recorded, and why.
    pub notes: Vec<String>,
    /// How the launched process ended; [`Ending::TimedOut`] where the time was up.
    pub ending: Ending,
    /// Whether the launch was complete before the end of the launched process.
    pub ready: bool,
    /// Processes that it left running; they have been ended.
    pub left_running: u32,
    /// Breakpoints that were planted.
    pub planted: u64,
}

/// A module of the recorded processes.
#[derive(Clone, Debug)]
pub struct RecordedModule {
    /// Its file, as [`model::text`] writes names.
    pub path: String,
    /// Where RVA 0 was in the first process that mapped it.
    pub mapped_at: MappedVa,
    /// Its functions.
    pub functions: Arc<FunctionStarts>,
}

/// The first call of a function by a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// Index of the program.
    pub program: u32,
    /// The module.
    pub module: ModuleId,
    /// Where the function begins.
    pub rva: Rva,
    /// Calls of it by any process that shares the breakpoint; `None` where they are not counted.
    pub count: Option<u64>,
}

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
