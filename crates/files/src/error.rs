//! Why a file was not written.

use crate::reasons::{in_the_way, unwritten};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a file was not written. It is as it was then, but for the variants that say otherwise.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refused.
    #[error("{}: {doing}: {}; nothing was changed", path.display(), unwritten(path, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused something after the file had been written.
    #[error("{}: {doing}: {}; the file itself has been written", path.display(), in_the_way(path, source))]
    Written {
        /// The file, or what belongs to it.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// There is such a file already.
    #[error("{} exists already; name a new file: nothing is overwritten", .0.display())]
    Exists(PathBuf),
    /// It must not be written, and why.
    #[error("{}: {reason}; nothing was changed", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
        /// What can be done instead, if anything is known.
        advice: Option<WriteAdvice>,
    },
    /// Files of a set were replaced before it failed, and could not be restored.
    #[error(
        "{reason}; {} replaced before that, and could not be restored yet: {}",
        were(left),
        left.iter().map(WriteError::reason).collect::<Vec<_>>().join("; ")
    )]
    Partly {
        /// What failed.
        reason: String,
        /// Why each file that is replaced could not be restored.
        left: Vec<WriteError>,
    },
    /// New files of a set could not be removed after it failed.
    #[error(
        "{reason}; {} written before that, and could not be removed: {}",
        were(files),
        list(files)
    )]
    LeftNew {
        /// What failed.
        reason: String,
        /// The new files.
        files: Vec<PathBuf>,
    },
}

/// What a user can do besides, as data: only the command line knows how that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAdvice {
    /// Write a copy instead.
    Copy,
    /// The same, in a folder that no package owns.
    CopyElsewhere,
    /// Restore the file first, or write the further change to a copy.
    UndoFirst,
    /// Mend what stands against restoring the other files of the set, then restore them.
    UndoRest,
}

fn were<T>(files: &[T]) -> String {
    match files.len() {
        1 => "1 file was".to_owned(),
        more => format!("{more} files were"),
    }
}

fn list(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl WriteError {
    /// What went wrong, without what became of the file.
    pub fn reason(&self) -> String {
        match self {
            WriteError::Io { path, doing, source } => {
                format!("{}: {doing}: {}", path.display(), unwritten(path, source))
            }
            WriteError::Refused { path, reason, .. } => format!("{}: {reason}", path.display()),
            other => other.to_string(),
        }
    }

    /// What can be done about it.
    pub fn advice(&self) -> Option<WriteAdvice> {
        match self {
            WriteError::Refused { advice, .. } => *advice,
            WriteError::Partly { .. } => Some(WriteAdvice::UndoRest),
            _ => None,
        }
    }

    /// That a file must not be written, for this reason.
    pub fn refused(path: &Path, reason: impl Into<String>) -> WriteError {
        WriteError::Refused { path: path.to_owned(), reason: reason.into(), advice: None }
    }

    /// As [`WriteError::refused`], with what can be done instead.
    pub(crate) fn advised(path: &Path, reason: String, advice: WriteAdvice) -> WriteError {
        WriteError::Refused { path: path.to_owned(), reason, advice: Some(advice) }
    }

    /// The same, where the file has been written already.
    pub(crate) fn afterwards(self) -> WriteError {
        match self {
            WriteError::Io { path, doing, source } => WriteError::Written { path, doing, source },
            other => other,
        }
    }

    pub(crate) fn changed_meanwhile(path: &Path) -> WriteError {
        WriteError::refused(path, "it was changed while headstart read it; run the command again")
    }

    pub(crate) fn io(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> WriteError {
        move |source| WriteError::Io { path: path.to_owned(), doing, source }
    }
}

/// EIO, which has no kind of its own.
const INPUT_OUTPUT_ERROR: i32 = 5;

/// Whether there is no room to write: full, over quota, over a limit of size, read-only.
pub fn is_without_room(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::FileTooLarge
            | ErrorKind::ReadOnlyFilesystem
    )
}

/// Whether the disk itself is at fault: without room, or broken.
pub fn is_of_disk(error: &io::Error) -> bool {
    is_without_room(error) || error.raw_os_error() == Some(INPUT_OUTPUT_ERROR)
}

/// For callers that tell of the file themselves.
impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> io::Error {
        match error {
            WriteError::Io { source, .. } | WriteError::Written { source, .. } => source,
            WriteError::Exists(_) => ErrorKind::AlreadyExists.into(),
            WriteError::Refused { reason, .. } => io::Error::other(reason),
            other => io::Error::other(other.to_string()),
        }
    }
}
