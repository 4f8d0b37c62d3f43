//! Reads what a program is going to need ahead of it, and becomes the program.
//!
//! readahead(2) asks for exact ranges of files; it needs no more than the right to read them. In
//! front of a program the reading is done by a process of its own, at the same time as the program
//! starts: it is no child of the program, has none of its descriptors, and ends when all is asked
//! for. So the program has headstart's process id, its input and output, and its signals.

mod exec;
mod extents;
mod gate;
mod memory;
mod reader;
mod whole_files;

pub use exec::become_program;
pub use gate::is_warm;
pub use reader::{in_disk_order, read_ahead, same_time};

use std::ops::Range;
use std::path::PathBuf;

/// Requests that are longer are cut by the kernel without a word: to the read-ahead of the device,
/// or to its largest request.
pub const LONGEST_REQUEST_BYTES: u64 = 128 << 10;

/// Flag with which a file is opened that somebody may have replaced by a pipe: open(2), O_NONBLOCK.
pub const WITHOUT_WAITING: i32 = libc::O_NONBLOCK;

/// What is to be read ahead of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AheadPlan {
    /// Whose parts are read.
    pub files: Vec<PlannedFile>,
    /// What is asked for, in this order; none longer than [`LONGEST_REQUEST_BYTES`].
    pub requests: Vec<AheadRequest>,
    /// Looked up as the program will, there or not: then their folders are in memory.
    pub looked_up: Vec<PathBuf>,
    /// If all of these are in memory nothing has to be done; those that are most likely not come
    /// first.
    pub samples: Vec<AheadSample>,
    /// Ask in the order of the disk, which saves a disk with a moving head its way.
    pub in_disk_order: bool,
    /// Ask from several threads at once; else one request after the other.
    pub parallel: bool,
}

/// A file as it was when it was recorded. One that has changed is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub size_bytes: u64,
    /// When its content was changed last, since 1970.
    pub modified_ns: i64,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadRequest {
    /// Index of the file.
    pub file: usize,
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
}

impl AheadRequest {
    /// Requests for all of `range` of the file with this index.
    pub fn pieces(file: usize, range: Range<u64>) -> impl Iterator<Item = AheadRequest> {
        let mut offset = range.start;
        std::iter::from_fn(move || {
            let left = range.end.checked_sub(offset).filter(|left| *left > 0)?;
            let bytes = left.min(LONGEST_REQUEST_BYTES);
            offset += bytes;
            Some(AheadRequest { file, offset: offset - bytes, bytes })
        })
    }
}

/// A place in a file that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadSample {
    /// Index of the file.
    pub file: usize,
    /// A byte of the page.
    pub offset: u64,
}

/// What became of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AheadDone {
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Requests that the kernel took.
    pub requests: u64,
    /// Files that were left alone, in the order of the plan.
    pub skipped: Vec<SkippedFile>,
    /// Nothing was read, as the memory that is available would not hold it beside the program.
    pub without_memory: bool,
}

/// A file that was not read ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Why.
    pub reason: SkipReason,
}

/// Why a file is not read ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Its size or its time is not that of the recording.
    Changed,
    /// It is no regular file.
    NoFile,
    /// It cannot be opened, or the kernel refuses to read ahead in it: the system's words.
    Refused(String),
}

impl AheadPlan {
    /// Bytes of all requests.
    pub fn bytes(&self) -> u64 {
        self.requests.iter().map(|request| request.bytes).sum()
    }
}

#[cfg(test)]
mod tests;
