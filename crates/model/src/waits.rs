//! Time in which a launch waits: recorded wait by wait, and summed up.

use crate::{Phase, PhaseTrace};
use serde::{Deserialize, Serialize};

/// What a thread waits for in a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// A span of time to be over.
    Time,
    /// The end of a child process.
    Child,
    /// Another thread or process: a lock, a condition, a thread's end.
    Lock,
    /// Any of several descriptors to be ready.
    Event,
    /// A signal.
    Signal,
    /// The other end of a pipe.
    Pipe,
    /// The other end of a socket.
    Socket,
    /// Somebody to type, or a terminal to show.
    Terminal,
    /// A file or device.
    File,
}

/// One wait of one thread: a system call in which it gave up the processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// Its process.
    pub pid: u32,
    /// The thread; the main thread's id is the process's.
    pub thread: u32,
    /// When the wait began.
    pub from_us: f64,
    /// When it was over, time on the processor and time waited for a free one left out: too early
    /// by as much of that as came first.
    pub to_us: f64,
    /// When the call was seen to end.
    pub answered_us: f64,
    /// The system call.
    pub call: String,
    /// What it waited for.
    pub on: WaitFor,
    /// The file, socket or pipe, as the kernel names it, where the call was about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Functions that led to the call, the innermost first; only where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<String>,
}

/// From when to when a thread lived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadLife {
    /// Its process.
    pub pid: u32,
    /// The thread.
    pub thread: u32,
    /// When it was created.
    pub started_us: f64,
    /// When it ended.
    pub ended_us: f64,
}

/// The launch whose waits were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitTrace {
    /// Its processes and their marks.
    pub trace: PhaseTrace,
    /// All threads of all its processes.
    pub threads: Vec<ThreadLife>,
    /// In order of their end.
    pub waits: Vec<Wait>,
}

/// A function that waited, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitCaller {
    /// It and the functions that called it, the innermost first.
    pub functions: Vec<String>,
    /// How long.
    pub us: f64,
}

/// Waits of a launch in the same phase, program and system call, for the same thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitReport {
    /// The phase.
    pub phase: Phase,
    /// The program that waited.
    pub program: String,
    /// The system call.
    pub call: String,
    /// What it waited for.
    pub on: WaitFor,
    /// Which file, pipe or socket, where the call was about one and always the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// How often.
    pub calls: u64,
    /// How long in all.
    pub us: f64,
    /// By caller, longest first; only with `--hot`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<WaitCaller>,
}

/// Time in which every thread of a launch waited at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// In all; never more than the launch.
    pub total_us: f64,
    /// Longest first; they sum to the total.
    pub calls: Vec<WaitReport>,
}
