use crate::{CacheState, Command, Machine, Until};
use serde::{Deserialize, Serialize};

/// Version of the run folder's layout and of `experiment.json`.
pub const EXPERIMENT_SCHEMA: u32 = 1;

/// One of the things that a run compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Unique within the run.
    pub name: String,
    /// What is launched.
    pub command: Command,
}

/// The order of launches, stored so that a run can be resumed and repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Seed of the permutation of every round.
    pub seed: u64,
    /// Rounds before the counted ones.
    pub warm_up_rounds: u32,
    /// Counted rounds; the most there may be where a precision is asked for.
    pub rounds: u32,
    /// Stop as soon as every interval is at most this far from its ratio (0.01 is 1 %).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// Stop after this many seconds of launching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
}

/// How each launch is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// When a launch counts as complete.
    pub until: Until,
    /// State of the page cache before each launch.
    pub cache: CacheState,
    /// CPU that launches are pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// SCHED_FIFO and locked memory.
    #[serde(default)]
    pub realtime: bool,
    /// A launch that takes longer is ended and fails the run.
    pub timeout_s: f64,
    /// Exit codes other than 0, and signals, do not fail the run.
    #[serde(default)]
    pub ignore_failure: bool,
    /// Run, untimed, before each round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Command>,
}

/// `experiment.json` of a run folder: everything but the launches themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// [`EXPERIMENT_SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// Version of that program.
    pub headstart: String,
    /// When the run began: seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// Where it ran.
    pub machine: Machine,
    /// What is compared; the first is the baseline.
    pub variants: Vec<Variant>,
    /// In which order.
    pub schedule: Schedule,
    /// In which manner.
    pub request: Request,
}
