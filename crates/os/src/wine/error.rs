//! Why Wine cannot be used.

use crate::LaunchError;
use std::io;
use std::path::PathBuf;

/// Why Wine could not be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WineError {
    /// Wine is not installed, or not for 64-bit programs.
    #[error(
        "Windows programs need Wine, but wine64 is neither in PATH nor in {0}; install it with: \
         apt-get install wine64"
    )]
    NotFound(String),
    /// A part of Wine is not where its loader is.
    #[error(
        "'{loader}' lacks {missing} (looked in {folders}); install all of Wine with: apt-get \
         install --reinstall wine64 libwine"
    )]
    Incomplete {
        /// `wine64`.
        loader: PathBuf,
        /// What was looked for.
        missing: &'static str,
        /// And where.
        folders: String,
    },
    /// The temporary prefix could not be written.
    #[error("'{path}', for Wine's prefix: {source}; choose another place with TMPDIR")]
    Prefix {
        /// The file or folder.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Wine's server or the first program did not do what they should.
    #[error("Wine could not be prepared: {found}; try it by hand: {by_hand}")]
    NotReady {
        /// What happened.
        found: String,
        /// The command that failed.
        by_hand: String,
    },
    /// Wine's server ended before the launches did.
    #[error(
        "Wine's server was ended by someone else during the launches, so their times are \
         meaningless; try again"
    )]
    ServerGone,
    /// Something could not be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}
