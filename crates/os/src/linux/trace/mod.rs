//! Traced launches: when a program passes exec, mapping, relocation, entry, `main` and exit,
//! what it looks up in the file system, and how many CPUID instructions its start executes.
//!
//! The tracer stops a process as seldom as it can: at events of the kernel, at three system
//! calls chosen by a seccomp filter, and at breakpoints that vanish when hit.

pub(in crate::linux) mod arch;
pub(in crate::linux) mod breakpoints;
mod bundle_memory;
mod counting;
mod cpuid;
mod ending;
mod files;
mod filter;
mod functions;
mod hits;
mod images;
mod lives;
mod loader;
mod maps;
mod marks;
mod permitted;
pub(in crate::linux) mod ptrace;
mod session;
pub(in crate::linux) mod start;
mod steps;
pub(in crate::linux) mod tracer;
mod waits;

pub use crate::functions::{
    FunctionRequest, RecordUntil, RecordedCall, RecordedFunctions, RecordedModule,
};
pub use functions::{SPARE_SIGNALS, functions, functions_until_interrupt};
pub use maps::FileMapping;
pub use permitted::permitted;
pub use waits::{RecordedWait, WaitStack, accounted};

use super::LaunchError;
use super::launcher::GRACE;
use super::place::PlacedFiles;
use super::spawn::{Prepared, Setup};
use crate::stdio::Stdio;
use model::{BundleStart, Command, Ending, ImagePages, PhaseTrace, Reading, ThreadLife};
use std::ffi::OsString;
use std::time::Duration;
use tracer::{Limits, Tracer};

/// What a traced launch is to record, besides the marks.
#[derive(Clone, Debug)]
pub struct TraceRequest {
    /// Record calls on the file system. Two more stops each: such a launch's times say nothing.
    pub record_files: bool,
    /// Count CPUID instructions up to `main` in every process of the launch. Each is a stop.
    /// Libraries opened with dlopen before `main` are left out.
    pub count_cpuid: bool,
    /// Record the calls in which threads wait; not together with `record_files`. Two more stops
    /// for each call that may wait.
    pub record_waits: bool,
    /// Keep the stacks of long waits, so that their callers can be found.
    pub keep_stacks: bool,
    /// Record the steps of the start of these bundles. A stop for each, and for each function that
    /// initializes a library.
    pub bundles: Vec<BundleStart>,
    /// Look at what the launched process has in memory of this file, by its real path, when it ends, if it executes
    /// that then. No breakpoints are set in such a launch, and so only exec and exit are marked.
    pub pages_at_exit: Option<String>,
    /// End the launch by SIGKILL where the launched program's first image reaches its entry point.
    pub end_at_entry: bool,
    /// The launch is ended after this time: by SIGTERM, and after [`GRACE`] by SIGKILL.
    pub timeout: Duration,
    /// Files that the launch sees in the place of others; needs root.
    pub place: Option<PlacedFiles>,
    /// CPU for tracer and tracees, which makes stops several times cheaper; `None` leaves them
    /// where the scheduler puts them.
    pub cpu: Option<u32>,
    /// Becomes stdin, stdout and stderr.
    pub stdio: Stdio,
}

impl TraceRequest {
    /// Marks only, on the present CPU, for at most a minute.
    pub fn new(stdio: Stdio) -> Self {
        let cpu = rustix::thread::sched_getcpu();
        TraceRequest {
            record_files: false,
            count_cpuid: false,
            record_waits: false,
            keep_stacks: false,
            bundles: Vec::new(),
            pages_at_exit: None,
            end_at_entry: false,
            place: None,
            timeout: Duration::from_secs(60),
            cpu: u32::try_from(cpu).ok(),
            stdio,
        }
    }
}

/// What the environment of an executed image tells the loader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoaderVariables {
    /// Index of the process in the trace.
    pub process: usize,
    /// Index of the image among those of the process.
    pub image: usize,
    /// Variables whose names begin with `LD_`, with their values.
    pub set: Vec<(String, OsString)>,
}

/// A traced launch.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedLaunch {
    /// What was recorded.
    pub trace: PhaseTrace,
    /// Every thread of every process; the waits are among these.
    pub threads: Vec<ThreadLife>,
    /// Where threads waited, in order of the end of each wait; only when that was asked for.
    pub waits: Vec<RecordedWait>,
    /// What the environment told the loader of each executed image.
    pub variables: Vec<LoaderVariables>,
    /// What the launched process had in memory of the file that it executed, when it ended; only when that was asked
    /// for.
    pub pages: Option<Reading<ImagePages>>,
    /// How the launched process ended.
    pub ending: Ending,
    /// Processes that it left running; they have been ended.
    pub left_running: u32,
}

/// Launches `command` under ptrace and waits for its end. Nothing of it is left running.
///
/// Processes started with CLONE_UNTRACED escape, and programs that use ptrace themselves find
/// it taken.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where ptrace or seccomp filters are refused;
/// [`LaunchError::Interrupted`]; otherwise what an ordinary launch of `command` meets.
pub fn trace(command: &Command, request: &TraceRequest) -> Result<TracedLaunch, LaunchError> {
    let prepared = Prepared::new(command, &[])?;
    let limits = Limits { cpu: request.cpu, timeout: request.timeout, grace: GRACE };
    let (launch, ending) = tracer::trace(limits, move |tracer| {
        let launch = follow(tracer, &prepared, request, command)?;
        let ending = launch.ending;
        Ok((launch, ending))
    })?;
    Ok(TracedLaunch { ending, ..launch })
}

/// Everything that happens on the tracer's thread.
fn follow(
    tracer: Tracer,
    prepared: &Prepared,
    request: &TraceRequest,
    command: &Command,
) -> Result<TracedLaunch, LaunchError> {
    request.place.as_ref().map_or(Ok(()), PlacedFiles::enter)?;
    arch::prepare();
    let map_library = images::prepare(&command.program);
    let filter = filter::build(&filter::Wanted {
        own_exec: prepared.program_address(),
        map_library,
        files: request.record_files,
        waits: request.record_waits && !request.record_files,
    });
    let setup = Setup { filter: &filter, ..Setup::with_stdio(&request.stdio) };
    let child = tracer.start(prepared, setup)?;
    session::Session::new(request, &child, map_library).run()
}
