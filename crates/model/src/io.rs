//! What a launch read: sums by file, section and kind, and what would help.

use crate::{Ending, FileRead, OtherReads, ReadSum, Reading};
use serde::{Deserialize, Serialize};

/// Version of the JSON of [`IoReport`].
pub const IO_REPORT_SCHEMA: u32 = 1;

/// How reads became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoSource {
    /// Tracepoints of the block layer: every read, with its place, size and time.
    BlockReads,
    /// Page faults that waited for input: where, but neither how much was read nor what system calls
    /// read.
    MajorFaults,
}

/// What a launch read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IoReport {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The command, as one would type it.
    pub command: String,
    /// How the launched process ended.
    pub ending: Ending,
    /// Whether its files were evicted before.
    pub is_cold: bool,
    /// From before the clone call until the launched process was waited for.
    pub total_us: f64,
    /// How reads became known.
    pub source: IoSource,
    /// How the files were found.
    pub files_from: String,
    /// All reads: of these files, of other files, and of the file system's own blocks.
    pub total: Reading<ReadSum>,
    /// Time of all reads of these files, also of those that went on at the same time.
    pub read_us: Reading<f64>,
    /// Bytes between successive reads of the same file, of all of these files.
    pub distance_bytes: Reading<u64>,
    /// Bytes that the kernel counted for the launched process and the children it waited for.
    pub kernel_bytes: Reading<u64>,
    /// Pages of these files that were in memory right before the launch, so that they were not read.
    pub resident_pages: Reading<u64>,
    /// Pages of these files that other programs read into memory while the launch ran.
    pub brought_pages: Reading<u64>,
    /// Files that were read, the one with the most bytes first.
    pub files: Vec<FileIo>,
    /// What is of no file above.
    pub others: Reading<OtherReads>,
    /// Sums by kind of content, the one with the most bytes first.
    pub kinds: Vec<KindIo>,
    /// Every read in order of time, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Vec<ReadInSequence>>,
    /// What would help.
    pub advice: Vec<IoAdvice>,
    /// What is not known, and why.
    pub notes: Vec<String>,
}

/// What a launch read of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileIo {
    /// Its path, without links.
    pub path: String,
    /// Its size.
    pub file_bytes: u64,
    /// How far the kernel reads ahead on its device.
    pub read_ahead_kib: Reading<u64>,
    /// Its reads.
    pub reads: Reading<ReadSum>,
    /// Those of less than 32 KiB.
    pub small_reads: Reading<ReadSum>,
    /// Bytes between successive reads.
    pub distance_bytes: Reading<u64>,
    /// Time of its reads.
    pub read_us: Reading<f64>,
    /// Page faults that waited for input.
    pub major_faults: u64,
    /// Pages that entered memory and were not read from a block device.
    pub unread_pages: Reading<u64>,
    /// The sections of an image in the order of the file; one without a name for any other file.
    pub sections: Vec<SectionIo>,
}

/// What a launch read of one section. A page counts for the section that has the most bytes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SectionIo {
    /// Its name. `headers`: those of the file. `(none)`: what is in no section.
    pub name: String,
    /// What it holds.
    pub kind: ContentKind,
    /// Bytes of reads.
    pub bytes: Reading<u64>,
    /// Page faults that waited for input, where only those are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
}

/// What a part of a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// Relocations that are applied at start.
    Relocations,
    /// Symbols, their names, hash tables and versions.
    Symbols,
    /// Code.
    Text,
    /// Constants and variables.
    Data,
    /// Tables for unwinding.
    Unwind,
    /// The rest of an image: headers, notes, debug information.
    Other,
    /// Files that are no images.
    PlainFile,
}

impl ContentKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            ContentKind::Relocations => "relocations",
            ContentKind::Symbols => "symbols",
            ContentKind::Text => "text",
            ContentKind::Data => "data",
            ContentKind::Unwind => "unwind tables",
            ContentKind::Other => "other sections",
            ContentKind::PlainFile => "files that are no images",
        }
    }
}

/// Sums of one kind of content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindIo {
    /// The kind.
    pub kind: ContentKind,
    /// Bytes of reads.
    pub bytes: Reading<u64>,
    /// Page faults that waited for input, where only those are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Their share in what was read of the files, or in these page faults: from 0 to 1.
    pub share: f64,
}

/// One read, in order of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadInSequence {
    /// Index of its file.
    pub file: u64,
    /// The read.
    #[serde(flatten)]
    pub read: FileRead,
    /// Bytes between the end of the read before of the same file and this one; missing for the first.
    pub distance_bytes: Option<u64>,
    /// The section in which it begins; missing where the file is no image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

/// What would help a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "advice", rename_all = "snake_case")]
pub enum IoAdvice {
    /// Nearly all of a file is read, in many pieces: reading it whole before the launch asks for
    /// fewer.
    ReadWhole {
        /// The file.
        path: String,
        /// From 0 to 1.
        share: f64,
        /// Its reads.
        reads: ReadSum,
    },
    /// A part of a file is read in small pieces that lie apart: its exact pages should be read ahead,
    /// or what the launch needs be put together.
    Scattered {
        /// The file.
        path: String,
        /// From 0 to 1.
        share: f64,
        /// Its reads.
        reads: ReadSum,
        /// Those of less than 32 KiB.
        small_reads: ReadSum,
    },
    /// Much of what is read are relocations.
    Relocations {
        /// Their bytes.
        bytes: u64,
        /// Their share in all bytes of files, from 0 to 1.
        share: f64,
        /// The file with most of them.
        path: String,
        /// Bytes of relocations that are not packed as RELR, of all files.
        unpacked_bytes: u64,
    },
}
