//! What is recorded about a launch of a Windows program, from which it is explained.

use model::{Command, DebuggedLaunch, PeFacts, Reading};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the loader looks for DLLs beside the folder of the program, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DllSearchPath {
    /// Folders of the system.
    pub system: Vec<String>,
    /// The working folder of the launch.
    pub working: String,
    /// The folders of PATH.
    pub path: Vec<String>,
}

/// Everything recorded about the launches of one command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeInputs {
    /// What was launched.
    pub command: Command,
    /// Totals of launches without a debugger, made beside the debugged ones: as many before the first as
    /// after each.
    pub untraced_us: Vec<f64>,
    /// CPU time of the same launches, where it is known.
    pub untraced_cpu_us: Vec<Reading<f64>>,
    /// How many of the same launches left processes running, which headstart ended.
    pub left_running: u32,
    /// The launch is explained up to the moment when the program is ready, not to its end.
    pub until_ready: bool,
    /// Launches under the debug API. What is explained is the median of those that went the same way.
    pub debugged: Reading<Vec<DebuggedLaunch>>,
    /// Static facts of the files that these have loaded, by path; the reason where one could not be read.
    pub facts: BTreeMap<String, Result<PeFacts, String>>,
    /// Where the loader looks for DLLs.
    pub search: DllSearchPath,
    /// Debugged launches that went otherwise than those without a debugger, and do not count.
    #[serde(default)]
    pub left_out: u32,
    /// The program's file was another when the launches were over.
    #[serde(default)]
    pub changed: bool,
    /// Wine's version; `None` on Windows.
    pub wine: Option<String>,
}

impl PeInputs {
    /// The facts of a file.
    pub(super) fn facts(&self, path: &str) -> Option<&PeFacts> {
        self.facts.get(path)?.as_ref().ok()
    }

    /// Whether a file came with the system, not with the program.
    pub(super) fn is_of_system(&self, path: &str) -> bool {
        let path = super::search::key(path);
        let is_below = |folder: &String| {
            path.strip_prefix(&super::search::key(folder))
                .is_some_and(|rest| rest.starts_with('\\'))
        };
        // Wine has its own DLLs in a folder that no path names.
        let is_of_wine = || self.wine.is_some() && path.contains(r"\wine\x86_64-windows\");
        self.search.system.iter().any(is_below) || is_of_wine()
    }
}
