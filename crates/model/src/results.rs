//! Results of a run, as `measure --json` and `compare --json` print them.

use crate::{CacheState, Effect, Ending, Reading, Rules, Sample, Summary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the object that `measure --json` and `compare --json` print.
pub const RESULTS_SCHEMA: u32 = 1;

/// How cold the launches of a variant were, from the checks before each of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColdSummary {
    /// How the cache was emptied.
    pub state: CacheState,
    /// Launches whose cache was checked.
    pub launches: u32,
    /// Files that were checked before each launch.
    pub files: u32,
    /// Their pages.
    pub total_pages: u64,
    /// Pages still resident before a launch, median over the launches.
    pub resident_pages: Reading<u64>,
}

/// How many launches ended in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndingCount {
    /// The way.
    pub ending: Ending,
    /// Launches.
    pub launches: u32,
}

/// Everything measured about one variant. Counters are medians over its counted launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantResult {
    /// Unique within the run.
    pub name: String,
    /// The command as one would type it into a shell.
    pub command: String,
    /// What hyperfine's exports call it, where that is not the command.
    #[serde(skip)]
    pub title: Option<String>,
    /// The values of the parameters that it was made with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// Those parameters that its line did not mention.
    #[serde(skip)]
    pub unused: Vec<String>,
    /// Order statistics of the launch times.
    #[serde(flatten)]
    pub summary: Summary,
    /// Memory that belongs to one process alone: of the process with the most.
    #[serde(default = "unread")]
    pub private_kib: Reading<u64>,
    /// Largest resident set.
    pub peak_rss_kib: Reading<u64>,
    /// Page faults served without input.
    pub minor_faults: Reading<u64>,
    /// Page faults that waited for input.
    pub major_faults: Reading<u64>,
    /// Bytes read from storage.
    pub read_bytes: Reading<u64>,
    /// User time; on most kernels a guess below about 4 ms, unlike `cpu_us`.
    pub user_us: Reading<f64>,
    /// Kernel time; a guess like `user_us`.
    pub system_us: Reading<f64>,
    /// User and kernel time together.
    pub cpu_us: Reading<f64>,
    /// How the launches ended, most frequent first.
    pub endings: Vec<EndingCount>,
    /// Launches that left processes running, which headstart ended.
    pub left_running: u32,
    /// Present for cold launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<ColdSummary>,
    /// Time of each counted launch, in order of rounds.
    pub times_us: Vec<f64>,
    /// The counted launches in the same order; the run folder keeps them, JSON output does not.
    #[serde(skip)]
    pub samples: Vec<Sample>,
}

/// What older versions did not read.
fn unread() -> Reading<u64> {
    Reading::unavailable("the version that made these results did not read it", "measure anew")
}

impl VariantResult {
    /// Launches that ended neither with exit code 0 nor by becoming ready.
    pub fn failed(&self) -> u32 {
        let failed = self.endings.iter().filter(|count| !count.ending.is_success());
        failed.map(|count| count.launches).sum()
    }
}

/// What `measure` and `compare` print.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`RESULTS_SCHEMA`] of the program that made it.
    pub schema: u32,
    /// Version of that program.
    pub headstart: String,
    /// Folder of the run, where it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Seed of the schedule and of the intervals.
    pub seed: u64,
    /// The rules behind the verdicts.
    pub rules: Rules,
    /// The variants; the first is the baseline.
    pub variants: Vec<VariantResult>,
    /// Every other variant against the baseline.
    pub effects: Vec<Effect>,
    /// What a reader of the figures should know.
    pub notes: Vec<String>,
    /// The unit in which views are to show times; the one that suits them where none is named.
    #[serde(skip)]
    pub unit: Option<TimeUnit>,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// µs
    Microsecond,
    /// ms
    Millisecond,
    /// s
    Second,
}
