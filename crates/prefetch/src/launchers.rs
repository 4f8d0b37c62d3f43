//! What is put in front of a program so that each of its starts reads ahead: launchers, desktop
//! entries, and drop-ins of services. Each is a file of its own, known by its content; no file of
//! anybody else is changed or replaced, so undoing is removing.

pub mod desktop;
pub mod known;
pub mod launcher;
mod place;
mod plans;
pub mod service;
pub mod units;
mod words;

pub use place::{Removed, made, remove};

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why nothing was written or removed.
#[derive(Debug, Error)]
pub enum InstallError {
    /// The system's words.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What was found does not allow it.
    #[error("{}: {reason}", .path.display())]
    Refused {
        /// The file, or what it would have been.
        path: PathBuf,
        /// What was found, and the next step.
        reason: String,
    },
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] files::WriteError),
    /// The recording could not be written.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
}

impl InstallError {
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> InstallError {
        move |source| InstallError::Io { path: path.to_owned(), source }
    }

    pub(crate) fn refused(path: &Path, reason: impl Into<String>) -> InstallError {
        InstallError::Refused { path: path.to_owned(), reason: reason.into() }
    }
}

/// How headstart is started before a program, in the words of its command line.
#[derive(Clone, Debug)]
pub struct Front {
    /// headstart's own file, absolute.
    pub headstart: PathBuf,
    /// The word that makes it read ahead.
    pub verb: &'static str,
    /// The option without which it says why nothing is read ahead.
    pub quiet: &'static str,
    /// The option that names a recording.
    pub record: &'static str,
    /// The option by which it reads first and starts the program then.
    pub before: &'static str,
    /// What undoes a file, if its path follows.
    pub undo: &'static str,
}

impl Front {
    /// The words that stand before those of the program.
    fn words(&self, record: Option<&Path>, before: bool) -> Vec<OsString> {
        let mut words = vec![self.headstart.clone().into(), self.verb.into(), self.quiet.into()];
        if let Some(record) = record {
            words.extend([self.record.into(), record.into()]);
        }
        words.extend(before.then(|| self.before.into()));
        words.push("--".into());
        words
    }

    /// How the file at `path` is undone, as one types it.
    fn undo(&self, path: &Path) -> String {
        format!("{} {}", self.undo, model::quoted_path(path))
    }
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its path.
    pub path: PathBuf,
    /// It took the place of an older one that headstart had made.
    pub replaced: bool,
}

#[cfg(test)]
pub(crate) fn test_front() -> Front {
    Front {
        headstart: "/opt/hs/headstart".into(),
        verb: "ahead",
        quiet: "-q",
        record: "-r",
        before: "-b",
        undo: "headstart undo",
    }
}
