//! Why a variant was not built: it does not apply, or no file can be written any more.

use bundle::BundleError;
use files::{WriteError, is_of_disk};
use rewrite::{Declined, ElfRewriteError};
use std::io;
use std::path::{Path, PathBuf};

/// Why a variant was not built.
#[derive(Debug, thiserror::Error)]
pub enum NotBuilt {
    /// It does not apply to this program, or would not be safe.
    #[error(transparent)]
    Declined(#[from] Declined),
    /// A disk is full or broken: this says nothing of the variant, and none can be built.
    #[error("{}: {}", path.display(), files::reasons::unwritten(path, source))]
    Disk {
        /// The file or folder that could not be written or read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl NotBuilt {
    /// An error of the system at a file; one that is not the disk's is a reason to decline.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> NotBuilt + '_ {
        |source| match is_of_disk(&source) {
            true => NotBuilt::Disk { path: path.to_owned(), source },
            false => Declined(format!("{}: {source}", path.display())).into(),
        }
    }
}

impl From<WriteError> for NotBuilt {
    fn from(error: WriteError) -> NotBuilt {
        match error {
            WriteError::Io { path, source, .. } | WriteError::Written { path, source, .. }
                if is_of_disk(&source) =>
            {
                NotBuilt::Disk { path, source }
            }
            other => Declined(other.to_string()).into(),
        }
    }
}

impl From<ElfRewriteError> for NotBuilt {
    fn from(error: ElfRewriteError) -> NotBuilt {
        match error {
            ElfRewriteError::Io { path, source } if is_of_disk(&source) => {
                NotBuilt::Disk { path, source }
            }
            ElfRewriteError::Apply(error) => error.into(),
            other => Declined(other.to_string()).into(),
        }
    }
}

impl From<BundleError> for NotBuilt {
    fn from(error: BundleError) -> NotBuilt {
        match error {
            BundleError::Io { path, source } | BundleError::Write { path, source }
                if is_of_disk(&source) =>
            {
                NotBuilt::Disk { path, source }
            }
            other => Declined(other.to_string()).into(),
        }
    }
}
