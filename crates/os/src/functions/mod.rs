//! Functions that a launch calls: what is asked for, and what is recorded, on every host.

mod bits;
mod named;
mod recording;
mod runs;

pub(crate) use bits::Bits;
pub(crate) use named::pe_function;
pub(crate) use recording::{Over, Recording};
pub(crate) use runs::runs;

use crate::stdio::Stdio;
use image::FunctionStarts;
use model::{Ending, ExecutedProgram, MappedVa, ModuleId, Rva, Until};
use std::sync::Arc;
use std::time::Duration;

/// What is recorded, and until when.
#[derive(Clone, Debug)]
pub struct FunctionRequest {
    /// The launch is complete then, and is ended.
    pub until: RecordUntil,
    /// Recording ends after this time; the program goes on.
    pub first: Option<Duration>,
    /// Calls are counted, each function's up to this many. Every call is then two stops.
    pub count_limit: Option<u64>,
    /// The launch is ended after this time: on Linux by SIGTERM, and after [`GRACE`](crate::launcher::GRACE) by
    /// SIGKILL.
    pub timeout: Duration,
    /// CPU for tracer and tracees, which makes stops several times cheaper on Linux; on Windows for the program alone.
    pub cpu: Option<u32>,
    /// Becomes stdin, stdout and stderr.
    pub stdio: Stdio,
}

/// When a recorded launch is complete.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordUntil {
    /// As for a measured launch.
    Launch(Until),
    /// A process of the launch gets this signal, which is not delivered. Windows has none.
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
