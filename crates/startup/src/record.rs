//! What stood at a path when the bundle was made.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A path and what must be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// Absolute path, as the loader comes to it.
    pub path: PathBuf,
    /// What must be there.
    pub expected: Expected,
}

/// What must be at a path, with links followed unless it is one itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing that could be opened: stat(2) gives ENOENT, ENOTDIR or EACCES, at which the
    /// loader looks elsewhere.
    Absent,
    /// This file.
    File(FileIdentity),
    /// This folder; its size says nothing.
    Folder(FileIdentity),
    /// A file of this size, and of this time in whole seconds: a copy of it has these, too.
    Copy {
        /// Bytes.
        size: u64,
        /// Last change of the content: seconds.
        modified_s: i64,
    },
    /// A link with this target, wherever it leads.
    Link(PathBuf),
}

/// What stat(2) says of a file, without the device, whose number changes between boots on an
/// overlay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIdentity {
    /// Inode.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// Last change of the content: seconds and nanoseconds.
    pub modified: (i64, i64),
    /// Last change of the inode: seconds and nanoseconds.
    pub changed: (i64, i64),
}

impl FileIdentity {
    /// The same for copies: without inode and times of the inode, in whole seconds.
    #[must_use]
    pub fn of_copies(self) -> FileIdentity {
        let modified = (self.modified.0, 0);
        FileIdentity { size: self.size, modified, ..FileIdentity::default() }
    }
}

impl FileRecord {
    /// The same for copies: neither inode nor times of the inode count.
    #[must_use]
    pub fn of_copies(self) -> FileRecord {
        let expected = match self.expected {
            Expected::File(file) => Expected::Copy { size: file.size, modified_s: file.modified.0 },
            other => other,
        };
        FileRecord { expected, ..self }
    }

    /// The link that is at `path` now.
    ///
    /// # Errors
    /// Where readlink(2) fails.
    pub fn of_link(path: &Path) -> io::Result<FileRecord> {
        let expected = Expected::Link(std::fs::read_link(path)?);
        Ok(FileRecord { path: path.to_owned(), expected })
    }

    /// What is at `path` now.
    ///
    /// # Errors
    /// Where stat(2) fails for another reason than that nothing can be found there.
    pub fn of(path: &Path) -> io::Result<FileRecord> {
        let expected = match std::fs::metadata(path) {
            Ok(found) => {
                let identity = FileIdentity {
                    inode: found.ino(),
                    size: found.size(),
                    modified: (found.mtime(), found.mtime_nsec()),
                    changed: (found.ctime(), found.ctime_nsec()),
                };
                if found.is_dir() { Expected::Folder(identity) } else { Expected::File(identity) }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::PermissionDenied => Expected::Absent,
                _ => return Err(error),
            },
        };
        Ok(FileRecord { path: path.to_owned(), expected })
    }
}
