//! The table of a load-time experiment: one workload in several forms, on several file systems.

use crate::{CacheState, Effect, Reading};
use serde::{Deserialize, Serialize};

/// Version of the JSON shape of [`LoadTable`].
pub const LOAD_TABLE_SCHEMA: u32 = 1;

/// Load times of the forms of a workload, a column for each place and state of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadTable {
    /// [`LOAD_TABLE_SCHEMA`].
    pub schema: u32,
    /// Version of headstart that measured.
    pub headstart: String,
    /// Folder of the runs, where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What was launched: `10 libraries of 100 functions`.
    pub workload: String,
    /// The forms; the first is what the others are compared with.
    pub rows: Vec<LoadRow>,
    /// Where they were launched; each has a cell for every row.
    pub columns: Vec<LoadColumn>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A form of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadRow {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// What the published table calls that which it corresponds to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterpart: Option<String>,
}

/// A place and a state of the cache; or figures from elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadColumn {
    /// `ext4`, or the name of the file that the figures come from.
    pub name: String,
    /// State of the cache before each launch; none for figures from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheState>,
    /// A cell for each row.
    pub cells: Vec<Reading<LoadCell>>,
}

/// Load time of a form in a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadCell {
    /// The fastest launch, as LoadTimer printed it.
    pub fastest_us: f64,
    /// Median; none for figures from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_us: Option<f64>,
    /// 1 − time ÷ time of the first row: of paired launches, or of the fastest ones where the
    /// figures are from elsewhere. None for the first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub improvement: Option<f64>,
    /// The effect behind the improvement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}
