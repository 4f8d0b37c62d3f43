//! What has become of a bundle, or of another folder that headstart made.

use super::{BundleCheck, BundlePopulate, BundleReadAhead};
use crate::LargePages;
use serde::{Deserialize, Serialize};

/// What has become of a folder that headstart made, and of the files that it was made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundleVerification {
    /// [`BUNDLE_SCHEMA`](crate::bundle::BUNDLE_SCHEMA).
    pub schema: u32,
    /// The program as it was named.
    pub program: String,
    /// Nothing has changed.
    pub current: bool,
    /// A start now and here uses what was made, and not the original.
    pub used: bool,
    /// What a bundle looks at when it is started; none of all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<BundleCheck>,
    /// How many files were looked at.
    pub files: usize,
    /// Why it is not used; else the first change, in words. None where nothing has changed.
    pub reason: Option<String>,
    /// What `run` starts, as things are.
    pub starts: Starts,
    /// What the check at start finds changed: a file, a folder or a variable. It does not look at contents.
    pub noticed: Option<String>,
    /// What is at the original's place, where `run` starts that and it is not the program that it
    /// was, or why it cannot be started; to follow the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// What a bundle reads ahead where it is not in memory; none of all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<BundleReadAhead>,
    /// Other files that it would read ahead, had they not changed since the recording.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_read_ahead: Vec<String>,
    /// What a bundle maps at once at every start; none of all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub populate: Option<BundlePopulate>,
    /// How much of a bundle's file was in large pages before it was read; none of all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub large_pages: Option<LargePages>,
    /// The next step, where there is one.
    pub remedy: Option<String>,
    /// What has changed.
    pub changes: Vec<BundleChange>,
    /// How many of these are plug-ins or their libraries, if any: the originals of those plug-ins are opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_plugins: Option<usize>,
    /// How many of these are files that plug-ins were merged into, or stand beside those, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_merged: Option<usize>,
}

/// What `run` of a folder starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Starts {
    /// The code that was merged.
    Bundle,
    /// The changed copies in the folder, without a check.
    Copies,
    /// The file at the original's place, whatever that is now.
    Original,
    /// Nothing: a launch fails, for the reason that `instead` tells.
    Nothing,
    /// It cannot be told: `run` is not the file that was made, another version made it, or it belongs to another
    /// user, so root does not start it.
    Unknown,
}

/// A file that is not as it was when the bundle was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleChange {
    /// The file.
    pub path: String,
    /// What has happened to it.
    pub what: ChangeKind,
    /// The same in words, with what was found.
    pub found: String,
}

/// What has happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// It is not there.
    Missing,
    /// It is there and cannot be read.
    Unreadable,
    /// Its content is another one, or it cannot be executed any more.
    Changed,
    /// The folder that must stay where it was made is elsewhere.
    Moved,
    /// The loader would take another file for this library now.
    Replaced,
    /// The program needs it now, and did not.
    Added,
    /// The program does not need it any more.
    Unneeded,
    /// Its content is another one, and no launch uses it.
    Unused,
}
