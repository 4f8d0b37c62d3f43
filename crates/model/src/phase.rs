//! The phases of a launch.

use serde::{Deserialize, Serialize};

/// A part of a launch. The phases of one launch follow one another and sum to its total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// From the clone call to the new process calling execve. On Windows the creation of the process, from
    /// the call of CreateProcess to its first step.
    Spawn,
    /// The kernel's execve: from the call to the first instruction of the new image.
    Exec,
    /// The loader starts, finds libraries and maps them.
    Map,
    /// The loader applies relocations and binds symbols.
    Relocate,
    /// The loader of Windows starts, finds DLLs, maps and relocates them, and binds imports: its debug
    /// events do not tell these apart.
    Load,
    /// Constructors and initializers run, up to `main`; on Windows up to the program's entry point.
    #[serde(rename = "initialise")]
    Initialize,
    /// The program's own code, from `main` to the call of `exit`. On Windows from the entry point to the
    /// end of the last thread.
    Main,
    /// Exit handlers, destructors, tear-down by the kernel, up to the parent's wait returning.
    Exit,
    /// Time that no source attributes to a phase.
    Unattributed,
}

impl Phase {
    /// Every phase, in the order in which a launch passes through them.
    pub const ALL: [Phase; 9] = [
        Phase::Spawn,
        Phase::Exec,
        Phase::Map,
        Phase::Relocate,
        Phase::Load,
        Phase::Initialize,
        Phase::Main,
        Phase::Exit,
        Phase::Unattributed,
    ];

    /// The phase's name as people read it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Spawn => "spawn",
            Phase::Exec => "exec",
            Phase::Map => "map",
            Phase::Relocate => "relocate",
            Phase::Load => "load",
            Phase::Initialize => "initialize",
            Phase::Main => "main",
            Phase::Exit => "exit",
            Phase::Unattributed => "unattributed",
        }
    }
}

/// How long one phase took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    /// Which phase.
    pub phase: Phase,
    /// Its share of the launch, in microseconds.
    pub us: f64,
}
