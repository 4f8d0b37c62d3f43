//! Why OpenOffice's experiment cannot be made.

use crate::attempt::AttemptError;
use crate::verify::VerifyError;
use lab::LabError;
use os::LaunchError;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenOfficeError {
    /// The order could not be tried.
    #[error(transparent)]
    Attempt(#[from] AttemptError),
    /// A launch could not be made or recorded.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The forms could not be compared.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// There is no place for the folder.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// What the program is linked from could not be made.
    #[error(
        "{name} cannot be built here (its script ended with {ending}); the output above says why"
    )]
    Prepare {
        /// The program.
        name: &'static str,
        /// The end of the script, in words.
        ending: String,
    },
    /// The user's command failed.
    #[error("the link command ended with {ending}: {command}; its output is above")]
    Build {
        /// The command.
        command: String,
        /// Its end, in words.
        ending: String,
    },
    /// The user's command succeeded and made nothing.
    #[error("the link command did not write '{}': {command}", path.display())]
    NothingBuilt {
        /// The command.
        command: String,
        /// The program that it was to make.
        path: PathBuf,
    },
    /// There is something in the folder that the tables are to be kept in.
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// A file or folder cannot be used.
    #[error("'{}': {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

impl OpenOfficeError {
    pub(super) fn io(path: &Path, source: io::Error) -> OpenOfficeError {
        OpenOfficeError::Io { path: path.to_owned(), source }
    }
}
