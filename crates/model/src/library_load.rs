//! Libraries that were loaded one after the other, and what each load took.

use crate::ColdCheck;
use serde::{Deserialize, Serialize};

/// Version of [`LibraryLoadReport`] in JSON.
pub const LIBRARY_LOADS_SCHEMA: u32 = 1;

/// What loading the libraries of a list took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LibraryLoadReport {
    /// [`LIBRARY_LOADS_SCHEMA`].
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The list.
    pub list: String,
    /// What loads: `dlopen`, `LoadLibrary` of Windows, or `wine` for that of Wine, whose version is in a
    /// note.
    pub loader: String,
    /// What stayed in memory of the files that were evicted before; none where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<ColdCheck>,
    /// What was read ahead; none where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<FilesAhead>,
    /// In the order of the list.
    pub libraries: Vec<LibraryLoad>,
    /// The sum of the times of all loads that came to an end.
    pub total_us: f64,
    /// How the figures are to be read.
    pub notes: Vec<String>,
}

/// One library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LibraryLoad {
    /// As the list has it.
    pub name: String,
    /// How long its load took; `None` where it did not come to an end.
    pub us: Option<f64>,
    /// Why it was not loaded.
    pub error: Option<String>,
    /// The path by which the loader knows it.
    pub path: Option<String>,
    /// Files that came into the process: the library and what it needs that was not there yet;
    /// `None` where that is not counted.
    pub modules: Option<u64>,
    /// These files, in the order in which the loader reported them, including those that were unloaded again;
    /// `None` where that is not known.
    #[serde(default)]
    pub came_with: Option<Vec<CameWith>>,
    /// Page faults served without input; `None` where they are not counted.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for input.
    pub major_faults: Option<u64>,
    /// Bytes read from storage.
    pub read_bytes: Option<u64>,
}

/// A file that came into the process while a library was loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CameWith {
    /// As the loader names it.
    pub path: String,
    /// When the loader reported it, counted from the start of the load.
    pub at_us: f64,
    /// When it was unloaded again, if that was before the end of the load.
    pub left_at_us: Option<f64>,
    /// Whether it was loaded by a thread other than the one that loads the list.
    pub by_other_thread: bool,
}

/// When files are read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AheadWhen {
    /// Before the first library is loaded.
    Before,
    /// While libraries are loaded.
    Meanwhile,
}

/// Files that were read ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilesAhead {
    /// When.
    pub when: AheadWhen,
    /// What of them, in words.
    pub what: String,
    /// How many.
    pub files: u32,
    /// Their bytes that were asked for.
    pub bytes: u64,
    /// How long asking took; what was asked for may come later.
    pub us: f64,
    /// Files that could not be read.
    pub failed: u32,
}

impl LibraryLoadReport {
    /// Libraries that were not loaded.
    pub fn failed(&self) -> usize {
        self.libraries.iter().filter(|library| library.error.is_some()).count()
    }
}
