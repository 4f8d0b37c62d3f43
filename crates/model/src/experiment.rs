//! What a run is made of: variants, settings and rules, as `experiment.json` keeps them.

use crate::{CacheState, Command, Ending, Hooks, Machine, Streams, Until};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the run folder's layout and of `experiment.json`.
pub const EXPERIMENT_SCHEMA: u32 = 1;

/// One of the things that a run compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Unique within the run.
    pub name: String,
    /// What is launched.
    pub command: Command,
    /// What hyperfine's exports call it: the name that was given, else the line as it was typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The values of the parameters that its line was made with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// Those parameters that the line does not mention.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<String>,
    /// Commands that are run around its launches.
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
    /// Where its input comes from and its output goes.
    #[serde(default, skip_serializing_if = "Streams::is_plain")]
    pub streams: Streams,
}

impl Variant {
    /// A command and its name, with nothing around its launches.
    pub fn new(name: String, command: Command) -> Variant {
        Variant {
            name,
            command,
            title: None,
            parameters: BTreeMap::new(),
            unused: Vec::new(),
            hooks: Hooks::default(),
            streams: Streams::default(),
        }
    }
}

/// The order of launches, stored so that a run can be resumed and repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Fewer rounds than `rounds` are enough where the other conditions are met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_rounds: Option<u32>,
    /// Stop when the counted launches of every variant have taken so many seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_s: Option<f64>,
}

/// How each launch is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchOptions {
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
    /// Exit codes other than 0, signals and crashes do not fail the run.
    #[serde(default)]
    pub ignore_failure: bool,
    /// Where failures are not ignored: exit codes that do not fail the run either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_codes: Vec<i32>,
    /// Run, untimed, before each launch of a variant that has no preparation of its own. Only runs
    /// of earlier versions have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Command>,
}

impl LaunchOptions {
    /// Whether a launch that ended like this counts all the same. A crash on Windows does where its
    /// status is among the exit codes.
    pub fn ignores(&self, ending: Ending) -> bool {
        let is_ignored = |code| self.ignored_codes.contains(&code);
        self.ignore_failure || ending.exit_code().is_some_and(is_ignored)
    }
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
    #[serde(rename = "request")]
    pub options: LaunchOptions,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_are_ignored() {
        let options = |ignore_failure, ignored_codes: &[i32]| LaunchOptions {
            until: Until::Exit,
            cache: CacheState::Warm,
            cpu: None,
            realtime: false,
            timeout_s: 1.0,
            ignore_failure,
            ignored_codes: ignored_codes.to_vec(),
            prepare: None,
        };
        let endings = [Ending::Code(3), Ending::Signal(11), Ending::Status(0xc000_0005)];
        let ignored = |options: LaunchOptions| endings.map(|ending| options.ignores(ending));
        assert_eq!(ignored(options(false, &[])), [false; 3]);
        assert_eq!(ignored(options(true, &[])), [true; 3]);
        assert_eq!(ignored(options(false, &[3, 11])), [true, false, false]);
        // As a shell of Windows tells the status.
        assert_eq!(ignored(options(false, &[-1_073_741_819])), [false, false, true]);
    }
}
