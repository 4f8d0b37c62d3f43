//! Writing rewritten images: whole or not at all, and in place only where it can be undone.

mod allowed;
mod atomic;
mod held;
mod undo;

pub use allowed::{Privilege, Writers, may_be_replaced, may_be_replaced_beside, privilege};
pub use atomic::{Batch, write_new, write_over};
pub use held::Held;
pub use undo::{UNDO, in_place, in_place_beside, undo, undo_beside, undo_file};

use std::path::{Path, PathBuf};

/// Why a file was not written. It is as it was then.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The system refused.
    #[error("{}: {doing}: {source}; nothing was changed", path.display())]
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
}

impl ApplyError {
    fn refused(path: &Path, reason: impl Into<String>) -> ApplyError {
        ApplyError::Refused { path: path.to_owned(), reason: reason.into() }
    }

    fn io(path: &Path, doing: &'static str) -> impl Fn(std::io::Error) -> ApplyError {
        move |source| ApplyError::Io { path: path.to_owned(), doing, source }
    }
}
