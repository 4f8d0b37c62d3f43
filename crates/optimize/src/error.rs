//! Why nothing was optimized.

use crate::VariantReason;
use files::{is_of_disk, reasons};
use loader::GraphError;
use model::Ending;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

/// Why nothing was optimized. What fails for one variant alone is that variant's
/// [`TrialOutcome`](crate::TrialOutcome) instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptimizeError {
    /// None of the variants has this name.
    #[error("there is no variant '{name}'; there are: {known}")]
    UnknownVariant {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// Variants in memory would stay there however often the cache is emptied.
    #[error(
        "{}, where variants are built, is in memory, so that none of them could start cold; name a \
         folder on a disk in TMPDIR", folder.display()
    )]
    InMemory {
        /// The folder for temporary files.
        folder: PathBuf,
    },
    /// Which programs a script starts, and what they take, cannot be found out.
    #[error("'{program}' is a script, and what it starts cannot be followed: {source}{}", starts(.last))]
    NotFollowed {
        /// The script.
        program: String,
        /// Why.
        source: Box<os::LaunchError>,
        /// The program that its last command executes, where that can be read.
        last: Option<PathBuf>,
    },
    /// The program has privileges that a copy would not have, or should not.
    #[error(
        "'{program}' is {what}: a changed copy would not have these privileges, and should not; \
         leave it as it is"
    )]
    Privileged {
        /// The program.
        program: String,
        /// `set-user-ID`.
        what: &'static str,
    },
    /// The program is a product of headstart.
    #[error("'{program}' is not optimized: {reason}")]
    Bundle {
        /// The program.
        program: String,
        /// What it is, and what to name instead.
        reason: String,
    },
    /// The loader cannot be simulated for it.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The original is not finished in time, or launches could not be measured.
    #[error(transparent)]
    Lab(#[from] lab::LabError),
    /// The original fails.
    #[error("{command}: it {}{output}\n{}", .ending.words(), failing(*.by_loader))]
    Fails {
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
        /// What it wrote last.
        output: String,
        /// Whether it was the loader that gave up.
        by_loader: bool,
    },
    /// A launch could not be made.
    #[error(transparent)]
    Launch(#[from] os::LaunchError),
    /// What the original does cannot be told from one launch.
    #[error(
        "{command}: it {} once and {} the next time, so no variant can be shown to do the same; use \
         arguments with which it always ends in the same way",
        .first.words(), .second.words()
    )]
    Unsteady {
        /// The command line.
        command: String,
        /// How it ended.
        first: Ending,
        /// How it ended the next time.
        second: Ending,
    },
    /// The user's own test fails for the original.
    #[error(
        "{command}: it {} for the original program{output}; it must succeed (the program to test is \
         in HEADSTART_PROGRAM)",
        .ending.words()
    )]
    Check {
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
        /// What it wrote last.
        output: String,
    },
    /// A folder that variants are built or kept in cannot be used.
    #[error("{}: {problem}; {remedy}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        problem: String,
        /// The next step.
        remedy: BuildRemedy,
    },
    /// A disk is full or broken.
    #[error("{}: {}", path.display(), files::reasons::unwritten(path, source))]
    Disk {
        /// The file or folder that could not be written or read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The best variant could not be made a second time where it is to stay.
    #[error(
        "{name} was verified and measured, but could not be verified again in {}: {reason}; \
         nothing is left there; try another folder",
        folder.display()
    )]
    NotAgain {
        /// The variant.
        name: String,
        /// Where.
        folder: PathBuf,
        /// Why.
        reason: VariantReason,
    },
}

/// What can be done where a folder cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildRemedy {
    /// Temporary files may be elsewhere.
    AnotherTemporary,
    /// The result may be elsewhere.
    AnotherResult,
    /// The cause may be mended.
    Retry,
}

impl Display for BuildRemedy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuildRemedy::AnotherTemporary => "choose another folder with TMPDIR",
            BuildRemedy::AnotherResult => "use a new or an empty folder that you may write to",
            BuildRemedy::Retry => "fix that and try again",
        })
    }
}

fn starts(last: &Option<PathBuf>) -> String {
    last.as_ref().map_or(String::new(), |last| {
        format!("; its last command executes {}: name that program", last.display())
    })
}

fn failing(by_loader: bool) -> &'static str {
    match by_loader {
        true => "The loader cannot start it.",
        false => "It must work before it can be optimized.",
    }
}

impl OptimizeError {
    /// A file or folder that cannot be written; `remedy` where that is not the disk's fault.
    pub(crate) fn unwritten(path: &Path, source: io::Error, remedy: BuildRemedy) -> OptimizeError {
        if is_of_disk(&source) {
            return OptimizeError::Disk { path: path.to_owned(), source };
        }
        let problem = reasons::in_the_way(path, &source);
        OptimizeError::Folder { folder: path.to_owned(), problem, remedy }
    }

    /// Whether the user ended the work.
    pub fn is_interrupt(&self) -> bool {
        match self {
            OptimizeError::Launch(error) => matches!(error, os::LaunchError::Interrupted),
            OptimizeError::Lab(error) => error.is_interrupt(),
            _ => false,
        }
    }
}
