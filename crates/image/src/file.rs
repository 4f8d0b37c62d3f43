//! Files as they are mapped, and how one version of a file is told from another.

use crate::ImageError;
use std::fs::{File, FileType, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
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

/// A regular file and its bytes, mapped read-only; `None` for an empty one.
///
/// Nothing is opened that is not a regular file: opening a pipe or a device can block or act.
pub(crate) fn map(path: &Path) -> Result<Option<(File, memmap2::Mmap)>, ImageError> {
    let io = |source| ImageError::Io { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(io)?;
    if !metadata.is_file() {
        let found = describe(metadata.file_type());
        return Err(ImageError::NotAFile { path: path.to_owned(), found });
    }
    let file = File::open(path).map_err(io)?;
    if metadata.len() == 0 {
        return Ok(None);
    }
    // SAFETY: the mapping is private to this process and never written through. Somebody who
    // changes the file meanwhile changes bytes that are only ever read as plain integers; whoever
    // truncates it ends this process with SIGBUS, of which the command tells.
    #[allow(unsafe_code)]
    let bytes = unsafe { memmap2::Mmap::map(&file) }.map_err(io)?;
    Ok(Some((file, bytes)))
}

fn describe(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
