//! Loads of libraries, one after the other, and what each took.

use model::CameWith;
use std::path::PathBuf;

/// What became of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadEnding {
    /// It is loaded.
    Loaded,
    /// The loader refused, for this reason.
    Refused(String),
    /// The process ended with this exit code.
    Exited(i32),
    /// The process was killed by this signal.
    Killed(i32),
    /// The process crashed on Windows, with this NTSTATUS.
    Status(u32),
    /// The process asked to be traced and stopped at this signal, where it would have stayed.
    Traced(i32),
    /// It took too long.
    TimedOut,
}

/// One load.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedLoad {
    /// What became of it.
    pub ending: LoadEnding,
    /// How long dlopen took; `None` where it did not return.
    pub us: Option<f64>,
    /// The path by which the loader knows the library.
    pub path: Option<PathBuf>,
    /// Modules that came into the process with it, itself included; 0 where all were there.
    pub modules: u64,
    /// These modules; `None` where the loader does not report them.
    pub came_with: Option<Vec<CameWith>>,
    /// Page faults served without input.
    pub minor_faults: u64,
    /// Page faults that waited for input.
    pub major_faults: u64,
    /// Bytes read from storage.
    pub read_bytes: u64,
    /// Whether it started a thread or a process or printed something; only where that was watched.
    pub has_side_effects: bool,
}

/// All loads.
#[derive(Clone, Debug)]
pub struct TimedLoads {
    /// In the order of the request.
    pub loads: Vec<TimedLoad>,
    /// Files of all modules that were loaded, each once, in order; only where that was watched.
    pub modules: Vec<PathBuf>,
    /// Processes that it took: one, and another behind each library that ended one.
    pub processes: u32,
    /// Threads that libraries had started, at the end.
    pub threads: u32,
    /// Processes that libraries had started and that had to be ended.
    pub left_running: u32,
}
