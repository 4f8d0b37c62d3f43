//! Whether a file was touched since it was looked at.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Which file it is, and which version of that, as far as the system tells (stat(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Device and inode.
    pub identity: (u64, u64),
    bytes: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    /// The same for its attributes: whoever restores the time of modification changes this.
    changed: (i64, i64),
}

impl Stamp {
    /// That of the file at `path` as it is now; `None` where there is none.
    pub fn now(path: &Path) -> Option<Stamp> {
        path.metadata().ok().as_ref().map(Stamp::of)
    }

    /// Whether it is the same file with the same data, though perhaps with another name or mode.
    pub fn has_data_of(&self, other: &Stamp) -> bool {
        Stamp { changed: other.changed, ..*self } == *other
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
