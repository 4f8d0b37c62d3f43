//! What a cold launch read of chosen files from storage, read by read.

use crate::{ColdCheck, Ending, FileOffset, Reading};
use serde::{Deserialize, Serialize};

/// A cold launch whose reads of some files were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileReads {
    /// From before the clone call until the launched process was waited for.
    pub total_us: f64,
    /// How the launch ended.
    pub ending: Ending,
    /// What of the files was in memory right before the launch.
    pub cold: ColdCheck,
    /// Pages of the files that came into memory while the launch ran and were not read by it: other
    /// programs read them, so that its own reads of them may be missing.
    #[serde(default = "not_counted")]
    pub brought_pages: Reading<u64>,
    /// Page faults that waited for input, in all files, as the kernel counted them.
    pub major_faults: Reading<u64>,
    /// The files that were asked for, in that order.
    pub files: Vec<ReadFile>,
    /// What else the launch read.
    #[serde(default)]
    pub others: OtherReads,
    /// Bytes that the kernel counted for the launched process and the children it waited for.
    #[serde(default = "not_counted")]
    pub read_bytes: Reading<u64>,
    /// Records that the kernel dropped for want of room.
    pub lost: u64,
}

fn not_counted() -> Reading<u64> {
    Reading::unavailable("an earlier version did not count it", "")
}

/// Reads, and the bytes of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSum {
    /// How many.
    pub reads: u64,
    /// All their bytes.
    pub bytes: u64,
}

impl ReadSum {
    /// One more read of so many bytes.
    pub fn add(&mut self, bytes: u64) {
        *self = *self + ReadSum { reads: 1, bytes };
    }
}

impl std::ops::Add for ReadSum {
    type Output = ReadSum;

    fn add(self, other: ReadSum) -> ReadSum {
        ReadSum {
            reads: self.reads.saturating_add(other.reads),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// What a launch read that is of none of the files that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherReads {
    /// The file system's own blocks: inodes, folders, where the parts of files lie.
    pub metadata: ReadSum,
    /// Other files by path, or described in brackets, the one with the most bytes first.
    pub files: Vec<(String, ReadSum)>,
    /// Reads of which it is not known what they filled: past the page cache, or of file systems that
    /// the kernel does not name.
    pub unassigned: ReadSum,
}

impl OtherReads {
    /// All of them.
    pub fn sum(&self) -> ReadSum {
        let files = self.files.iter().map(|(_, sum)| *sum);
        files.fold(self.metadata + self.unassigned, |sum, next| sum + next)
    }
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
