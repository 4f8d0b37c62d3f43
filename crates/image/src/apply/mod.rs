//! Writing rewritten images: whole or not at all, and in place only where it can be undone.

mod allowed;
mod atomic;
mod batch;
mod content;
mod disk;
mod held;
mod lock;
mod undo;

pub use allowed::{Privilege, Writers, may_be_replaced, may_be_replaced_beside, privilege};
pub use atomic::{write_into, write_new, write_new_edited, write_over};
pub use batch::Batch;
pub use content::data;
pub use disk::{is_of_disk, is_without_room};
pub use held::Held;
pub use lock::{Lock, Locked};
pub use undo::{UNDO, in_place, undo, undo_beside, undo_file};

use crate::reasons::unwritten;
use std::path::{Path, PathBuf};

/// Why a file was not written. It is as it was then, but for the variants that say otherwise.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The system refused.
    #[error("{}: {doing}: {}; nothing was changed", path.display(), unwritten(path, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is such a file already.
    #[error("{} exists already; name a new file: nothing is overwritten", .0.display())]
    Exists(PathBuf),
    /// It must not be written, and why.
    #[error("{}: {reason}; nothing was changed", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why, and what to do instead.
        reason: String,
    },
    /// Files of a set were replaced before it failed, and could not be restored.
    #[error(
        "{reason}; {} replaced before that, and could not be restored yet: {}; mend that, then \
         run the same command with --undo",
        were(left),
        left.iter().map(ApplyError::reason).collect::<Vec<_>>().join("; ")
    )]
    Partly {
        /// What failed.
        reason: String,
        /// Why each file that is replaced could not be restored.
        left: Vec<ApplyError>,
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

fn were<T>(files: &[T]) -> String {
    match files.len() {
        1 => "1 file was".to_owned(),
        more => format!("{more} files were"),
    }
}

fn list(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl ApplyError {
    /// What went wrong, without what became of the file.
    pub fn reason(&self) -> String {
        match self {
            ApplyError::Io { path, doing, source } => {
                format!("{}: {doing}: {}", path.display(), unwritten(path, source))
            }
            ApplyError::Refused { path, reason } => format!("{}: {reason}", path.display()),
            other => other.to_string(),
        }
    }

    fn refused(path: &Path, reason: impl Into<String>) -> ApplyError {
        ApplyError::Refused { path: path.to_owned(), reason: reason.into() }
    }

    fn changed_meanwhile(path: &Path) -> ApplyError {
        ApplyError::refused(path, "it was changed while headstart read it; run the command again")
    }

    fn io(path: &Path, doing: &'static str) -> impl Fn(std::io::Error) -> ApplyError {
        move |source| ApplyError::Io { path: path.to_owned(), doing, source }
    }
}
