//! What a bundle was made of, and what has become of that.

use serde::{Deserialize, Serialize};

/// Version of the JSON shape of [`BundleManifest`].
pub const BUNDLE_SCHEMA: u32 = 1;

/// The manifest of a bundle: `headstart.json` beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleManifest {
    /// [`BUNDLE_SCHEMA`].
    pub schema: u32,
    /// Version of headstart that made it.
    pub headstart: String,
    /// The program as it was named.
    pub program: String,
    /// It is at fixed addresses.
    pub fixed: bool,
    /// Libraries that were to stay outside.
    pub outside: Vec<String>,
    /// The program and its libraries, in the order of loading.
    pub modules: Vec<BundledModule>,
}

/// A file that was merged, or that a bundle depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledModule {
    /// As the loader found it.
    pub path: String,
    /// Name by which it is needed; none for the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its build-id, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Size of the file.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Where it begins, from the beginning of the bundle in memory; none where it stays outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Why it stays outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<String>,
}

/// What has become of the files of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleVerification {
    /// [`BUNDLE_SCHEMA`].
    pub schema: u32,
    /// The program as it was named.
    pub program: String,
    /// Nothing has changed.
    pub current: bool,
    /// How many files were looked at.
    pub files: usize,
    /// What has changed.
    pub changes: Vec<BundleChange>,
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
    /// Its content is another one.
    Changed,
    /// The loader would take another file for this library now.
    Replaced,
    /// The program needs it now, and did not.
    Added,
    /// The program does not need it any more.
    Unneeded,
}
