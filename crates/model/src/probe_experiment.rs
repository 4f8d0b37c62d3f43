//! The question of the Cygwin post: what does looking at a program do to its next launch?

use crate::{Effect, Reading, Summary};
use serde::{Deserialize, Serialize};

/// Version of [`ProbeExperiment`] in JSON.
pub const PROBE_EXPERIMENT_SCHEMA: u32 = 1;

/// A way of looking at a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// Nobody looks.
    Nothing,
    /// The first 64 KiB are read through the page cache.
    ReadStart,
    /// They are mapped, and not touched.
    MapStart,
    /// They are mapped, and each page is touched.
    TouchStart,
    /// They are read past the page cache.
    ReadDirectly,
    /// All is read with RWF_DONTCACHE.
    ReadUncached,
    /// All is read, then POSIX_FADV_DONTNEED.
    ReadAndDrop,
    /// The program file(1) looks.
    FileProgram,
    /// headstart itself looks.
    Identify,
}

impl ProbeKind {
    /// All of them, nothing first.
    pub const ALL: [ProbeKind; 9] = [
        Self::Nothing,
        Self::ReadStart,
        Self::MapStart,
        Self::TouchStart,
        Self::ReadDirectly,
        Self::ReadUncached,
        Self::ReadAndDrop,
        Self::FileProgram,
        Self::Identify,
    ];

    /// What is done, in words.
    pub fn words(self) -> &'static str {
        match self {
            ProbeKind::Nothing => "nothing",
            ProbeKind::ReadStart => "read 64 KiB",
            ProbeKind::MapStart => "map 64 KiB",
            ProbeKind::TouchStart => "map and touch 64 KiB",
            ProbeKind::ReadDirectly => "read 64 KiB, O_DIRECT",
            ProbeKind::ReadUncached => "read all, RWF_DONTCACHE",
            ProbeKind::ReadAndDrop => "read all, FADV_DONTNEED",
            ProbeKind::FileProgram => "file(1)",
            ProbeKind::Identify => "headstart's identify",
        }
    }
}

/// What was in memory before somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbedState {
    /// Everything, as after a launch.
    Warm,
    /// Everything but the program's own file.
    ProgramEvicted,
}

/// What the experiment found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeExperiment {
    /// [`PROBE_EXPERIMENT_SCHEMA`].
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// What was launched.
    pub command: String,
    /// The file that was looked at.
    pub program: String,
    /// Its pages.
    pub pages: u64,
    /// Rounds, in each of which every row was launched once.
    pub rounds: u32,
    /// Seed of the order of rows.
    pub seed: u64,
    /// By state, then by probe.
    pub rows: Vec<ProbeRow>,
    /// What is to be known of the figures.
    pub notes: Vec<String>,
}

/// One probe in one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeRow {
    /// The state before.
    pub state: ProbedState,
    /// Who looked.
    pub probe: ProbeKind,
    /// What came of it; unavailable where the probe is not possible here.
    pub found: Reading<ProbeFigures>,
}

/// Figures of a probe: medians over rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeFigures {
    /// Pages of the program in memory before the probe.
    pub pages_before: Reading<u64>,
    /// And after it.
    pub pages_after: Reading<u64>,
    /// How long the probe took.
    pub probe_us: f64,
    /// The next launches, by round.
    pub times_us: Vec<f64>,
    /// Of their times.
    pub summary: Summary,
    /// Bytes that the launches read from storage; the median.
    pub read_bytes: Reading<f64>,
    /// Against the launches of the same state before which nobody looked.
    pub effect: Option<Effect>,
}
