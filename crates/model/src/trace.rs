//! What traced launches record. All times are microseconds since just before the clone call
//! of that launch, on the launch clock.

use crate::{BundleMemory, Reading, StartStep};
use serde::{Deserialize, Serialize};

/// A point that a process passes on its way from execve to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// execve is entered.
    ExecCalled,
    /// execve has succeeded; the first instruction of the new image is next.
    ExecDone,
    /// The loader has mapped its last library of the start-up.
    Mapped,
    /// The loader has relocated everything (`r_state` is RT_CONSISTENT again).
    Relocated,
    /// The image's entry point (AT_ENTRY).
    Entry,
    /// `main`.
    Main,
    /// `exit` is called, or `main` has returned.
    ExitCalled,
    /// The kernel ends the process (PTRACE_EVENT_EXIT).
    Exiting,
}

/// A mark and its time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Which point.
    pub kind: MarkKind,
    /// When it was passed.
    pub at_us: f64,
}

/// One image executed by a process; a process that calls execve again has several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedImage {
    /// The executed file (`/proc/PID/exe`): for a script its interpreter.
    pub path: String,
    /// Arguments as the process received them.
    pub argv: Vec<String>,
    /// The program interpreter (loader) of the image.
    pub loader: Option<String>,
    /// Marks in order of time.
    pub marks: Vec<Mark>,
    /// Minor page faults of the process so far, at some of the marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<(MarkKind, u64)>,
    /// Why a mark is missing, in words for the user.
    pub notes: Vec<String>,
    /// Steps of a bundle's start and their times, in order; only when they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<(StartStep, f64)>,
    /// What a bundle has in memory at its marks; only where its steps were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<BundleMemory>,
}

/// A process of a traced launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedProcess {
    /// Process id.
    pub pid: u32,
    /// Index of the process that created it; `None` for the launched one.
    pub parent: Option<usize>,
    /// When it was created.
    pub started_us: f64,
    /// When its end was seen by headstart.
    pub ended_us: f64,
    /// Images it executed, in order. Empty for a fork that never called execve.
    pub images: Vec<TracedImage>,
}

/// The phase launch: marks of every process of one launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseTrace {
    /// From before the clone call until the launched process was waited for.
    pub total_us: f64,
    /// Processes in order of creation; the first is the launched one.
    pub processes: Vec<TracedProcess>,
    /// Stops made by the tracer: a measure of its influence.
    pub stops: u32,
    /// CPUID instructions executed up to `main`, by image path; only when counting was asked for.
    pub cpuids: Reading<Vec<(String, u64)>>,
    /// Calls on the file system; only when recording them was asked for.
    pub file_calls: Vec<FileCall>,
}

/// What a call on the file system was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOperation {
    /// open, openat, openat2.
    Open,
    /// stat, lstat, newfstatat with a path, statx.
    Stat,
    /// access, faccessat, faccessat2.
    Access,
    /// readlink, readlinkat.
    ReadLink,
    /// getdents64; the path is the folder's.
    ReadFolder,
    /// execve, execveat.
    Execute,
}

/// One call on the file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileCall {
    /// Process that made it.
    pub pid: u32,
    /// When.
    pub at_us: f64,
    /// What for.
    pub operation: FileOperation,
    /// Absolute path where it could be made one.
    pub path: String,
    /// 0, or the error number it failed with.
    pub error: i32,
}

/// One line of the dynamic loader's debug output (`LD_DEBUG`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoaderLine {
    /// Process that wrote it.
    pub pid: u32,
    /// Kernel's time stamp of the line.
    pub at_us: f64,
    /// The line without the process id and leading white space.
    pub text: String,
}

/// The launch under `LD_DEBUG`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoaderLog {
    /// From before the clone call until the launched process was waited for.
    pub total_us: f64,
    /// Process id of the launched process.
    pub pid: u32,
    /// Lines in order of time.
    pub lines: Vec<LoaderLine>,
}

/// Memory mapped by a process: a file, or memory that may lie over a file's.
///
/// An address belongs to the last mapping of its process before the fault that covers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mapping {
    /// Process.
    pub pid: u32,
    /// When it was mapped.
    pub at_us: f64,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
    /// Offset in the file.
    pub file_offset: u64,
    /// Mapped executable.
    pub executable: bool,
    /// The file; `//anon`, `[heap]` and the like for memory without one.
    pub path: String,
}

impl Mapping {
    /// The mapped file; `None` for memory without one.
    pub fn file(&self) -> Option<&str> {
        let is_file = self.path.starts_with('/') && !self.path.starts_with("//");
        is_file.then_some(self.path.as_str())
    }
}

/// What changes the address space of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Mapping", into = "Mapping")]
pub enum MemoryChange {
    /// A file or memory is mapped.
    Mapped(Mapping),
    /// execve has succeeded: nothing that was mapped before is left.
    Executed {
        /// Process.
        pid: u32,
        /// When.
        at_us: f64,
    },
}

impl MemoryChange {
    /// The process.
    pub fn pid(&self) -> u32 {
        match self {
            MemoryChange::Mapped(mapping) => mapping.pid,
            MemoryChange::Executed { pid, .. } => *pid,
        }
    }

    /// When.
    pub fn at_us(&self) -> f64 {
        match self {
            MemoryChange::Mapped(mapping) => mapping.at_us,
            MemoryChange::Executed { at_us, .. } => *at_us,
        }
    }

    /// What is mapped, unless it is an execve.
    pub fn mapping(&self) -> Option<&Mapping> {
        match self {
            MemoryChange::Mapped(mapping) => Some(mapping),
            MemoryChange::Executed { .. } => None,
        }
    }
}

/// In JSON, an execve is a mapping that covers all addresses.
const ALL_ADDRESSES: u64 = u64::MAX;

impl From<Mapping> for MemoryChange {
    fn from(mapping: Mapping) -> MemoryChange {
        match mapping {
            Mapping { pid, at_us, start: 0, bytes: ALL_ADDRESSES, .. } => {
                MemoryChange::Executed { pid, at_us }
            }
            mapping => MemoryChange::Mapped(mapping),
        }
    }
}

impl From<MemoryChange> for Mapping {
    fn from(change: MemoryChange) -> Mapping {
        match change {
            MemoryChange::Mapped(mapping) => mapping,
            MemoryChange::Executed { pid, at_us } => Mapping {
                pid,
                at_us,
                start: 0,
                bytes: ALL_ADDRESSES,
                file_offset: 0,
                executable: false,
                path: "//anon".to_owned(),
            },
        }
    }
}

/// One page fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageFault {
    /// Process.
    pub pid: u32,
    /// When.
    pub at_us: f64,
    /// Address that faulted.
    pub address: u64,
    /// It waited for input.
    pub major: bool,
}

/// The launch whose page faults were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageFaults {
    /// From before the clone call until the launched process was waited for.
    pub total_us: f64,
    /// Process id of the launched process.
    pub pid: u32,
    /// Where the records come from, in words: `perf page-fault events, user mode only`.
    pub source: String,
    /// In order of time. A forked process begins with its parent's mappings.
    pub mappings: Vec<MemoryChange>,
    /// Faults in order of time.
    pub faults: Vec<PageFault>,
    /// Bytes read from storage per file.
    pub read_bytes_by_file: Reading<Vec<(String, u64)>>,
    /// Bytes read from storage in all.
    pub read_bytes: Reading<u64>,
    /// Records that the kernel dropped for want of room.
    pub lost: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_records_write_an_execve_as_a_mapping_of_all_addresses() {
        let executed = MemoryChange::Executed { pid: 7, at_us: 1.5 };
        let json = serde_json::to_string(&executed).unwrap();
        assert!(json.contains(r#""start":0,"bytes":18446744073709551615,"#), "{json}");
        assert_eq!(serde_json::from_str::<MemoryChange>(&json).unwrap(), executed);
        let mapped = json.replace("18446744073709551615", "4096");
        let mapped = serde_json::from_str::<MemoryChange>(&mapped).unwrap();
        assert_eq!(mapped.mapping().map(|mapping| mapping.bytes), Some(4096));
    }
}
