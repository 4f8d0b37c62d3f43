//! What a launch reads of which files: recorded once, read ahead later.

use crate::FileOffset;
use serde::{Deserialize, Serialize};

/// What one launch, or several united, read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The file of the program that was launched, without links.
    pub program: String,
    /// The command, as one would type it.
    pub command: String,
    /// How it was recorded; of several united recordings the least precise.
    pub mode: RecordingMode,
    /// Files of which a part is less precise than that: some of their pages are taken from page faults.
    pub approximate_files: u64,
    /// How many recordings are united in this one.
    pub launches: u32,
    /// Until the launch was complete; the longest of several.
    pub total_us: f64,
    /// Size of a page. All ranges begin at pages, and end at pages or at the end of the file.
    pub page_bytes: u64,
    /// In order of first touch.
    pub files: Vec<RecordedFile>,
    /// Paths that the launch looked up and found, or not, in order of the first look-up.
    pub looked_up: Vec<LookedUpPath>,
    /// What is not known, and why.
    pub notes: Vec<String>,
}

/// How the ranges of a recording were found, the most precise first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingMode {
    /// A cold launch without read-ahead: a page enters memory if and only if the launch asks for it.
    Exact,
    /// A cold launch with read-ahead: pages that entered memory, those that were read ahead included.
    Tracepoints,
    /// A warm launch's page faults, widened to what the kernel maps around each.
    PageFaults,
}

/// What was read of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedFile {
    /// Its path, without links.
    pub path: String,
    /// Which file that was.
    pub identity: RecordedIdentity,
    /// Without overlaps and gaps of nothing between neighbors, in order of first touch.
    pub ranges: Vec<FileRange>,
    /// When the launch touched each of them first, since its beginning.
    pub touched_us: Vec<f64>,
}

/// What tells a file from another one that was put in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedIdentity {
    /// Device, as stat(2) tells it.
    pub device: u64,
    /// Inode.
    pub inode: u64,
    /// Size.
    pub size_bytes: u64,
    /// Time of the last change of its content, since 1970.
    pub modified_ns: i64,
    /// Of an ELF image, in hexadecimal digits.
    pub build_id: Option<String>,
}

/// Bytes of a file. In JSON `[offset, bytes]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct FileRange {
    /// Where it begins.
    pub offset: FileOffset,
    /// How long it is.
    pub bytes: u64,
}

impl From<(u64, u64)> for FileRange {
    fn from((offset, bytes): (u64, u64)) -> FileRange {
        FileRange { offset: FileOffset(offset), bytes }
    }
}

impl From<FileRange> for (u64, u64) {
    fn from(range: FileRange) -> (u64, u64) {
        (range.offset.0, range.bytes)
    }
}

impl FileRange {
    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.offset.0.saturating_add(self.bytes)
    }
}

/// A path that a launch looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookedUpPath {
    /// As it was asked for, absolute.
    pub path: String,
    /// Whether it was there.
    pub found: bool,
}

impl RecordedFile {
    /// Bytes of all ranges.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.bytes).sum()
    }
}

impl Recording {
    /// Bytes of all ranges of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(RecordedFile::bytes).sum()
    }
}

/// Version of the JSON of [`RecordingReport`].
pub const RECORDING_REPORT_SCHEMA: u32 = 1;

/// A recording as it is printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordingReport {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// Bytes of all ranges.
    pub bytes: u64,
    /// Files that are not as they were recorded, so they are not read ahead.
    pub stale: Vec<StaleFile>,
    /// What was recorded.
    #[serde(flatten)]
    pub recording: Recording,
}

/// A file that is not as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleFile {
    /// Its path.
    pub path: String,
    /// What has become of it.
    pub reason: String,
}

/// Version of the JSON of [`RecordingList`].
pub const RECORDING_LIST_SCHEMA: u32 = 1;

/// The recordings that are kept for a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordingList {
    /// Version of this structure.
    pub schema: u32,
    /// In the order of their names.
    pub recordings: Vec<RecordingEntry>,
}

/// A recording that is kept. Where it cannot be used there is a problem, and no figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordingEntry {
    /// Its file.
    pub path: String,
    /// Size of its file.
    pub file_bytes: u64,
    /// The command that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<RecordingMode>,
    /// Bytes of all ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Files that are not as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_files: Option<u64>,
    /// Why the recording cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Version of the JSON of [`AheadReport`].
pub const AHEAD_REPORT_SCHEMA: u32 = 1;

/// What was read ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AheadReport {
    /// Version of this structure.
    pub schema: u32,
    /// The command that was recorded.
    pub command: String,
    /// Files of the recording.
    pub files: u64,
    /// All pages that were looked at were in memory, so nothing was done.
    pub was_in_memory: bool,
    /// Bytes that the kernel was asked for.
    pub asked_bytes: u64,
    /// How many requests these were.
    pub requests: u64,
    /// Nothing was read, as it would have filled more than half of the available memory.
    pub without_memory: bool,
    /// Files that were left alone.
    pub skipped: Vec<SkippedAhead>,
}

/// A file that was not read ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedAhead {
    /// Its path.
    pub path: String,
    /// Why.
    pub reason: String,
}
