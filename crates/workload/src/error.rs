//! Why a workload was not generated.

use std::path::{Path, PathBuf};

/// Why a workload was not generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The format has no room for so many.
    #[error("{what}: the format's limit is {limit}")]
    TooLarge {
        /// What was asked for, with its number: `70,000 libraries`.
        what: String,
        /// The limit, with its unit where it has one.
        limit: String,
        /// What makes it smaller.
        sizes: &'static [Size],
    },
    /// The format cannot express it.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// PE images cannot be made so.
    #[error(transparent)]
    Pe(#[from] crate::pe::PeWorkloadError),
    /// The folder to write to holds something.
    #[error(
        "folder '{}' is not empty: it contains '{found}'; choose a new folder, or empty this one: \
         nothing is ever overwritten",
        folder.display()
    )]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// One of the names in it.
        found: String,
    },
    /// Somebody else writes to the folder.
    #[error(
        "another process is writing to the folder '{}'; choose a new folder",
        folder.display()
    )]
    Claimed {
        /// The folder.
        folder: PathBuf,
    },
    /// A file or folder could not be written.
    #[error("{}: {error}; {remedy}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said; part of the message, and so not a source of its own.
        error: std::io::Error,
        /// The next step.
        remedy: &'static str,
    },
}

impl WorkloadError {
    pub(crate) fn io(path: &Path, error: std::io::Error) -> WorkloadError {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let remedy = match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => {
                "free some space, or choose another \
                 folder"
            }
            _ => "choose a folder that you may write to",
        };
        WorkloadError::Io { path: path.to_owned(), error, remedy }
    }
}

/// A number that determines how large a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Libraries.
    Dlls,
    /// Functions of each library or class.
    Functions,
    /// Pointers of each function.
    Globals,
    /// Source files.
    Sources,
    /// Classes of each source file.
    Classes,
    /// The number of a shape.
    N,
}

/// What a format cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// Sources of PE images.
    #[error("source code can be generated for ELF only")]
    SourceOfPe,
    /// Imports by ordinal in ELF images.
    #[error("ELF has no ordinals: imports are always by name")]
    OrdinalsInElf,
    /// ELF images for another processor.
    #[error("ELF images can be generated for x86_64 only")]
    ElfProcessor,
    /// Dawson's program as a PE image for another processor.
    #[error("Dawson's program as a PE image is for x86_64 only, because its Guard CF table is")]
    DawsonProcessor,
}
