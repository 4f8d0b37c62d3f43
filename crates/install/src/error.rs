//! Why a program is not installed, renewed or removed.

use files::{WriteError, reasons};
use model::{ProgramAdvice, quoted_path};
use std::io;
use std::path::{Path, PathBuf};

/// Why a program is not installed, renewed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It is none of those that are put in another's place.
    #[error("{} is not installed: {reason}", .program.display())]
    Declined {
        /// The program.
        program: PathBuf,
        /// Why.
        reason: String,
        /// What can be done about it.
        advice: Option<ProgramAdvice>,
    },
    /// It is right, but no faster.
    #[error("{} is not installed: {found}", .program.display())]
    NotFaster {
        /// The program.
        program: PathBuf,
        /// What was measured.
        found: String,
    },
    /// It does something else than the original.
    #[error("{} is not used: {found}", .program.display())]
    Wrong {
        /// The program.
        program: PathBuf,
        /// What is wrong.
        found: String,
    },
    /// The environment changes what every program loads.
    #[error(
        "{0} is set, which changes what programs load. Nothing was changed, because installed programs \
         would be right in this environment only; unset it and try again"
    )]
    Variable(&'static str),
    /// Nothing of that name is installed.
    #[error("{named} is not installed by headstart")]
    NotInstalled {
        /// As it was named.
        named: String,
    },
    /// Something went wrong, and what was begun could not be undone.
    #[error(
        "{found}; what was begun is still to be undone, as {left}: the program works; run {undo}"
    )]
    NotUndone {
        /// What went wrong.
        found: String,
        /// Why it is not undone.
        left: String,
        /// What undoes it, in the words of the command line.
        undo: String,
    },
    /// Several programs are called so.
    #[error("{named} is the name of {}; name one by its path", .programs.join(" and "))]
    Ambiguous {
        /// As it was named.
        named: String,
        /// Their paths.
        programs: Vec<String>,
    },
    /// Somebody else is at work.
    #[error("{what} is at work ({holder}); nothing was changed; try again when it has ended")]
    Busy {
        /// Who.
        what: &'static str,
        /// The process.
        holder: String,
    },
    /// A file that headstart has not made is where one of its own has to be.
    #[error("{}: {found}", quoted_path(.path))]
    InTheWay {
        /// The file.
        path: PathBuf,
        /// What was found, and the next step.
        found: String,
    },
    /// A tool of the system fails.
    #[error("{tool} failed: {said}")]
    Tool {
        /// The tool, as it was called.
        tool: String,
        /// What it said.
        said: String,
    },
    /// A state file is not understood.
    #[error("{}: {found}", quoted_path(.path))]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the next step.
        found: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {}", quoted_path(.path), reasons::unwritten(.path, .source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The bundle cannot be made.
    #[error(transparent)]
    Bundle(#[from] bundle::BundleError),
    /// The original cannot be launched, or is none that could be optimized.
    #[error(transparent)]
    Optimize(#[from] optimize::OptimizeError),
    /// A desktop entry cannot be written.
    #[error(transparent)]
    Desktop(#[from] prefetch::launchers::InstallError),
    /// A test ended the work.
    #[error("stopped by a test")]
    Stopped,
}

impl ProgramError {
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> ProgramError {
        move |source| ProgramError::Io { path: path.to_owned(), source }
    }

    pub(crate) fn declined(program: &Path, reason: impl Into<String>) -> ProgramError {
        ProgramError::Declined { program: program.to_owned(), reason: reason.into(), advice: None }
    }

    pub(crate) fn in_the_way(path: &Path, found: impl Into<String>) -> ProgramError {
        ProgramError::InTheWay { path: path.to_owned(), found: found.into() }
    }

    /// Whether the user ended the work.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, ProgramError::Optimize(error) if error.is_interrupt())
    }
}
