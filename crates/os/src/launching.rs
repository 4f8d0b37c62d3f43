//! How programs are launched, and what was launched, on every host.

use model::{Ending, Launch, Until};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How launches run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// CPU for launches; any CPU where none is given.
    pub cpu: Option<u32>,
    /// SCHED_FIFO, and locked memory for the launcher; on Windows the real-time priority class. The
    /// programs have the same priority.
    pub realtime: bool,
}

/// How long a program that was ready, or whose time is up, may take to end by itself. Windows has no way
/// to ask every program, so none is asked there.
pub const GRACE: Duration = Duration::from_secs(3);

/// One launch of a prepared command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchSpec {
    /// When the launch counts as complete.
    pub until: Until,
    /// A launch that takes longer is ended, with all its children.
    pub timeout: Duration,
    /// How long a program may take to end after SIGTERM before SIGKILL; usually [`GRACE`]. Not heeded on
    /// Windows.
    pub grace: Duration,
}

/// A launch that was made, by which process, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Process id.
    pub pid: u32,
    /// Ticks of the launch clock before the call of clone or CreateProcess.
    pub ticks: u64,
    /// The launch. On Linux, where it was made exactly once, its peak RSS is missing if the program is
    /// smaller than the launcher.
    pub launch: Launch,
}

/// What a program has written, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardOutput {
    /// Its standard output.
    pub bytes: Vec<u8>,
    /// How it ended; none where it made no progress for too long, or wrote too much, and was
    /// ended. Of a Windows program's exit code Wine passes on the lowest eight bits.
    pub ending: Option<Ending>,
}
