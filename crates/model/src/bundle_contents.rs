//! What a bundle consists of, and what its start does, as its own file tells.

use crate::{FileOffset, MarkKind, Va};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A bundle that a launch executes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BundleContents {
    /// The program that it was made of; none where another version of headstart has made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// What it starts if it is stale, where that is not the path of the program: one that stands in
    /// the program's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// The merged libraries, in the order of their addresses.
    pub libraries: Vec<BundlePart>,
    /// Functions that initialize the libraries, in the order of their calls, as indices into the
    /// libraries; none for one that is in no library. Empty where they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub initializers: Vec<Option<usize>>,
    /// Functions that finalize the libraries.
    #[serde(default)]
    pub finalizers: u64,
    /// The same functions in the order of their calls, as indices into the libraries; none for one that is in no
    /// library. Empty where they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finalized: Vec<Option<usize>>,
    /// What each start does for the whole file, whoever does it; none where another version of headstart has
    /// made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<PartWork>,
    /// The part of that which is for no library.
    #[serde(default)]
    pub own_work: PartWork,
    /// Addresses that it adjusts itself; the loader is not told of them.
    #[serde(default)]
    pub adjusts_itself: u64,
    /// Functions outside that its start finds itself, in a table.
    #[serde(default)]
    pub found_functions: u64,
    /// Where its start can be observed; none where another version of headstart has made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<BundleStart>,
    /// The folder that headstart left it in; none where it stands elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What differs now from what it was made of, so that it starts its original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<BundleDifference>,
}

/// What a bundle finds changed at its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleDifference {
    /// A file, a folder, a library, a variable of the environment, or words.
    pub subject: String,
    /// What is wrong with it, as a sentence without its period.
    pub reason: String,
    /// It is a variable of the environment.
    #[serde(default)]
    pub variable: bool,
}

/// A library in a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundlePart {
    /// Its file; only its name where another version of headstart has made the bundle.
    pub path: String,
    /// Where it is in the bundle's file.
    pub places: Vec<Range<FileOffset>>,
    /// What is still done for it at each start.
    pub work: PartWork,
}

/// What is done at each start for a part of a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartWork {
    /// Relocations that are applied in it.
    pub relocations: u64,
    /// Of these, those that need a symbol look-up.
    pub symbolic_relocations: u64,
    /// Pages that relocations write to.
    pub relocated_pages: u64,
    /// Functions that initialize it.
    pub initializers: u64,
}

/// Where the start of a bundle can be observed: addresses before it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleStart {
    /// The bundle's file.
    pub path: String,
    /// The function that checks whether what was merged has changed, and starts the original if so.
    pub check: Va,
    /// The function that reads it ahead, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<Va>,
    /// The instruction to which every function that initializes a library returns.
    pub initialized: Va,
    /// Where the libraries are finalized at exit, where that can be observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<BundleFinish>,
}

/// Where the end of a bundle can be observed: addresses before it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleFinish {
    /// The first instruction of what calls the functions that finalize the libraries.
    pub begin: Va,
    /// The instruction to which every such function returns: a jump.
    pub finalized: Va,
    /// Where it leads.
    pub next: Va,
}

/// What a process has in memory of the bundle that it executes, at a mark of its launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleMemory {
    /// When.
    pub at: MarkKind,
    /// Parts that its memory consists of (mappings), with those of all libraries, stack and heap.
    pub parts: u64,
    /// Of these, parts of the bundle's file.
    pub own_parts: u64,
    /// Pages of the file that the process has copies of, as ranges of the file in their order. Not those of
    /// code, which the tracer writes to.
    pub copied: Vec<Range<FileOffset>>,
}

/// Pages of a file that a process has in memory, as ranges of the file in order of addresses. What lies in a
/// file twice may be there twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImagePages {
    /// Pages that it shares with the file.
    pub shared: Vec<Range<FileOffset>>,
    /// Pages that it has copies of.
    pub copied: Vec<Range<FileOffset>>,
}

/// A step of a bundle's start, or of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartStep {
    /// The bundle begins to read itself ahead.
    ReadAhead,
    /// It goes on.
    ReadAheadDone,
    /// Its check begins.
    Check,
    /// What was merged has not changed, and what the process sees is as with the original.
    Checked,
    /// The next function that initializes a library has returned.
    Initialized,
    /// What finalizes the libraries begins.
    Finish,
    /// The next function that finalizes a library has returned.
    Finalized,
}
