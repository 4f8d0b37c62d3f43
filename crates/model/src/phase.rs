//! The phases of a launch.

use serde::{Deserialize, Serialize};

/// A part of a launch. The phases of one launch follow one another and sum to its total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// From the clone call to the new process calling execve.
    Spawn,
    /// The kernel's execve: from the call to the first instruction of the new image.
    Exec,
    /// The loader starts, finds libraries and maps them.
    Map,
    /// The loader applies relocations and binds symbols.
    Relocate,
    /// Constructors and initializers run, up to `main`.
    #[serde(rename = "initialise")]
    Initialize,
    /// The program's own code, from `main` to the call of `exit`.
    Main,
    /// Exit handlers, destructors, tear-down by the kernel, up to the parent's wait returning.
    Exit,
    /// Time that no source attributes to a phase.
    Unattributed,
}

impl Phase {
    /// Every phase, in the order in which a launch passes through them.
    pub const ALL: [Phase; 8] = [
        Phase::Spawn,
        Phase::Exec,
        Phase::Map,
        Phase::Relocate,
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
