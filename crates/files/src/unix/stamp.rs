//! What stat(2) tells of a version of a file.

use crate::Stamp;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Stamp {
    /// That of the file at `path` as it is now; `None` where there is none.
    pub fn now(path: &Path) -> Option<Stamp> {
        path.metadata().ok().as_ref().map(Stamp::of)
    }

    /// That of an open file.
    pub fn of_file(file: &File) -> Option<Stamp> {
        file.metadata().ok().as_ref().map(Stamp::of)
    }

    /// That of a file that was looked at.
    pub fn of(data: &Metadata) -> Stamp {
        Stamp {
            identity: (data.dev(), data.ino()),
            bytes: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        }
    }
}

/// That of the file at `real`, of which `data` was read.
pub(crate) fn of(_real: &Path, data: &Metadata) -> Option<Stamp> {
    Some(Stamp::of(data))
}
