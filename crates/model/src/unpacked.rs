//! Files of a launch on file systems that unpack what they hold, or have a process serve it.

use crate::Reading;
use serde::{Deserialize, Serialize};

/// A file system on which a page that is not in memory costs work besides the reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpackingMount {
    /// Its type: `squashfs`, `erofs`, `fuse.sshfs`.
    pub kind: String,
    /// Where it is mounted, or the folder of it that an overlay shows.
    pub point: String,
    /// How it compresses, such as `xz`.
    pub compression: Reading<String>,
    /// Whether the files are seen through an overlay above it.
    pub through_overlay: bool,
}

/// Files of a launch on one such file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpackedFiles {
    /// The file system.
    pub mount: UnpackingMount,
    /// The files, by their real paths.
    pub files: Vec<String>,
    /// What reading parts of them took that were not in memory.
    pub read: Reading<UnpackTimes>,
}

/// The same bytes, read twice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpackTimes {
    /// How many bytes.
    pub bytes: u64,
    /// When they were not in memory: from storage, and unpacked.
    pub first_us: f64,
    /// At once again, from memory.
    pub again_us: f64,
}
