//! LoadDlls' procedure: the libraries of a list, loaded cold with and without reading ahead.

use crate::{Effect, Reading, Summary};
use serde::{Deserialize, Serialize};

/// Version of [`PrefetchExperiment`] in JSON.
pub const PREFETCH_EXPERIMENT_SCHEMA: u32 = 1;

/// What the experiment found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrefetchExperiment {
    /// [`PREFETCH_EXPERIMENT_SCHEMA`].
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The list.
    pub list: String,
    /// Libraries of the list.
    pub libraries: u32,
    /// Those that were not loaded, with the reason.
    pub failed: Vec<(String, String)>,
    /// Files that loading takes, libraries that others need included.
    pub files: u32,
    /// Their bytes.
    pub file_bytes: u64,
    /// What is read ahead of them.
    pub what: String,
    /// Rounds, in each of which every form was loaded once.
    pub rounds: u32,
    /// Seed of the order of forms.
    pub seed: u64,
    /// Pages of the files that stayed in memory when they were evicted: the median.
    pub resident_pages: Reading<u64>,
    /// Pages of the files.
    pub total_pages: u64,
    /// The forms; that without reading ahead first.
    pub forms: Vec<PrefetchFormTimes>,
    /// Their effects against the first.
    pub effects: Vec<Effect>,
    /// What is to be known of the figures.
    pub notes: Vec<String>,
}

/// A form in which the list is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefetchForm {
    /// Evicted before.
    Without,
    /// Evicted, then read ahead.
    With,
    /// Evicted; read ahead while libraries are loaded.
    Meanwhile,
    /// In memory.
    Warm,
}

impl PrefetchForm {
    /// All of them, that without reading ahead first.
    pub const ALL: [PrefetchForm; 4] = [Self::Without, Self::With, Self::Meanwhile, Self::Warm];

    /// What it is called.
    pub fn words(self) -> &'static str {
        match self {
            PrefetchForm::Without => "cold",
            PrefetchForm::With => "cold, read ahead before",
            PrefetchForm::Meanwhile => "cold, read ahead meanwhile",
            PrefetchForm::Warm => "warm",
        }
    }
}

/// Its times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrefetchFormTimes {
    /// Which.
    pub form: PrefetchForm,
    /// Sums of all loads, with the time in which files were asked for before them, by round.
    pub times_us: Vec<f64>,
    /// Of these times.
    pub summary: Summary,
    /// Median of the time in which files were asked for; none where they were not.
    pub ahead_us: Option<f64>,
    /// Median of the page faults that waited for input.
    pub major_faults: f64,
    /// Median of the bytes that the loading process itself read.
    pub read_bytes: f64,
}
