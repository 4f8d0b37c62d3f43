//! What a bundle was made of, and what has become of that.

mod verification;

use crate::toolchain::ToolPart;
use crate::{Disk, RecordingMode};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use verification::{BundleChange, BundleVerification, ChangeKind, Starts};

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
    /// Its constants are mapped together with code, and are executable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub join: bool,
    /// Libraries that were to stay outside.
    pub outside: Vec<String>,
    /// What it looks at when it is started.
    #[serde(default)]
    pub check: BundleCheck,
    /// Folders whose files never change under a name, besides those of [`IMMUTABLE_FOLDERS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub immutable: Vec<String>,
    /// Path that the process is told to be, where that is not the program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
    /// LD_LIBRARY_PATH with which it is used, where that has to be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_path: Option<String>,
    /// Name by which it is started, where that is not `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_name: Option<String>,
    /// The program and its libraries, in the order of loading.
    pub modules: Vec<BundledModule>,
    /// What may differ from the program in use, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// SHA-256 of `symbols.gdb`, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbols_sha256: Option<String>,
    /// `run` as it was made, or as the last `rerandomize` left it. Bundles made before this was
    /// recorded have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<BundleProduct>,
    /// The spare that `rerandomize` has left beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare: Option<BundleProduct>,
    /// What it reads ahead; none where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<BundleReadAhead>,
    /// What it maps at once at every start; none where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub populate: Option<BundlePopulate>,
    /// Files that it was to carry, by every path by which they may be opened; or plug-ins that were to be merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Plug-ins that are merged beside it, and the libraries that only they need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<BundledModule>,
    /// Libraries that it carries, and files of merged plug-ins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<CarriedFile>,
    /// What it is to a toolchain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolPart>,
}

/// A library in the folder of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedFile {
    /// From the bundle's folder.
    pub path: String,
    /// What it is a copy of.
    pub from: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256, in hexadecimal.
    pub sha256: String,
}

/// What a bundle looks at when it is started, to tell whether it still stands for its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BundleCheck {
    /// For the machine on which it was made: inodes and exact times of files and their folders.
    #[default]
    Host,
    /// For copies of a system: sizes and whole seconds of times of files, and the builds of C library and
    /// loader.
    Image,
    /// As for a host, but nothing in folders whose files never change under a name.
    Immutable,
    /// The builds of C library and loader alone: no file need be there.
    Sealed,
}

impl BundleCheck {
    /// All of them.
    pub const ALL: [BundleCheck; 4] =
        [BundleCheck::Host, BundleCheck::Image, BundleCheck::Immutable, BundleCheck::Sealed];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            BundleCheck::Host => "host",
            BundleCheck::Image => "image",
            BundleCheck::Immutable => "immutable",
            BundleCheck::Sealed => "sealed",
        }
    }

    /// Whether files may be copies, which have other inodes and times of inodes.
    pub fn is_for_copies(self) -> bool {
        matches!(self, BundleCheck::Image | BundleCheck::Sealed)
    }
}

/// Folders whose files never change under a name: Nix's and Guix's.
pub const IMMUTABLE_FOLDERS: [&str; 2] = ["/nix/store", "/gnu/store"];

/// What a bundle reads ahead at a start at which it is not in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleReadAhead {
    /// How the launch was recorded from which that is known.
    pub recorded: RecordingMode,
    /// The command that was recorded.
    pub command: String,
    /// The disk for which the requests are joined and put in order.
    #[serde(default)]
    pub disk: Disk,
    /// Requests for the bundle's own file.
    pub ranges: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Other files of which something is read.
    pub files: u64,
    /// Bytes of those.
    pub bytes_of_files: u64,
}

impl BundleManifest {
    /// Path of the program.
    pub fn path(&self) -> PathBuf {
        crate::text::name(&self.program).into()
    }
}

/// Pages of its file that a bundle has the kernel map at once at every start, before it needs them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundlePopulate {
    /// The command whose launch was recorded.
    pub command: String,
    /// Pages that it shared with the file: runs of them, each by its first page in the file and its length.
    pub shared: Vec<(u64, u64)>,
    /// The same of pages that it had copies of.
    pub copied: Vec<(u64, u64)>,
    /// How many places of memory every start asks for: runs of copied pages, and a page of each neighborhood of shared
    /// ones.
    pub ranges: u64,
    /// Places that were recorded, and for which the bundle has no room.
    pub left_out: u64,
    /// Pages that every start copies for that, and would not copy for its relocations.
    pub copied_pages: u64,
}

/// Figures of a bundle that was made just now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BundleFigures {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// References that were bound now.
    pub bound: u64,
    /// Symbols that the loader still looks up.
    pub looked_up: u64,
    /// Functions outside that the bundle finds itself at each start.
    pub found: u64,
    /// Addresses that the loader still adjusts.
    pub relative: u64,
    /// Initializers and finalizers that do nothing, and are left out.
    pub idle: u64,
    /// Modules whose constants are mapped with their code, as there are more parts than one file
    /// can have.
    pub joined: u64,
}

/// A file that headstart made, so that it can be told from any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleProduct {
    /// Its size.
    pub bytes: u64,
    /// Its owner may execute it.
    pub executable: bool,
    /// Its inode. Where inode, size and both times are the same it is not read again to be replaced.
    pub inode: u64,
    /// When its content was last written: nanoseconds since 1970.
    pub modified_ns: i64,
    /// When its content, names or mode were last changed (ctime); none where headstart was stopped
    /// before it could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_ns: Option<i64>,
    /// Size of the pieces that are hashed, the last of which may be shorter.
    pub piece_bytes: u64,
    /// SHA-256 of each piece in hexadecimal, one behind the other.
    pub sha256: String,
}

/// A file of a folder that headstart left, or a link in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryFile {
    /// From the folder.
    pub path: String,
    /// What a link leads to; none for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Size of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its owner may execute it.
    #[serde(default)]
    pub executable: bool,
    /// SHA-256 of the file, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
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

/// What a folder holds that headstart left, and what that was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// What was made; not the manifest itself, nor what has a manifest of its own.
    #[serde(default)]
    pub files: Vec<InventoryFile>,
    /// What it was made of: the program, and its libraries where they matter.
    #[serde(default)]
    pub modules: Vec<BundledModule>,
    /// The folder, where it has to stay there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stays_in: Option<String>,
    /// Whether a start looks at what it was made of; none where that is the original itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at_start: Option<bool>,
}
