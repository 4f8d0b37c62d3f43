//! What a cold launch read of chosen files from storage, read by read.

use crate::{ColdCheck, FileOffset, Reading};
use serde::{Deserialize, Serialize};

/// A cold launch whose reads of some files were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileReads {
    /// From before the clone call until the launched process was waited for.
    pub total_us: f64,
    /// What was left of the files in memory before the launch.
    pub cold: ColdCheck,
    /// Page faults that waited for input, in all files, as the kernel counted them.
    pub major_faults: Reading<u64>,
    /// The files that were asked for, in that order.
    pub files: Vec<ReadFile>,
    /// Records that the kernel dropped for want of room.
    pub lost: u64,
}

/// What the launch read of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadFile {
    /// Its path, without links.
    pub path: String,
    /// How far the kernel reads ahead on the file's device.
    pub read_ahead_kib: Reading<u64>,
    /// Page faults on mappings of the file that waited for input.
    pub major_faults: u64,
    /// Pages of the file that entered memory. Where these are more than the reads fill, the file
    /// came from something that is no block device, or has holes.
    pub pages: u64,
    /// In order of time.
    pub reads: Vec<FileRead>,
}

/// One read: what the kernel asked the device for at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileRead {
    /// When it was asked for, since the beginning of the launch.
    pub at_us: f64,
    /// Until the device had delivered all of it.
    pub duration_us: Reading<f64>,
    /// Where in the file it begins.
    pub offset: FileOffset,
    /// How much was read.
    pub bytes: u64,
}

impl ReadFile {
    /// Bytes of all reads.
    pub fn bytes(&self) -> u64 {
        self.reads.iter().map(|read| read.bytes).sum()
    }
}
