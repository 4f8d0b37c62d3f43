//! Work that a launch does, counted instead of timed: the same launch gives the same count, so a
//! handful of launches says what thousands of timed ones could not.
//!
//! Counted launches are slow (a tracer stops them, or a simulator runs them); their times mean
//! nothing.

mod instructions;
mod syscalls;

pub use instructions::instructions;
pub use syscalls::syscalls;

use super::attend::{AttendOptions, unwatched};
use super::error::LaunchError;
use model::{Command, Ending, Reading};

/// What was counted in one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The count, over all processes of the launch.
    pub count: Reading<u64>,
    /// How the launched process ended.
    pub ending: Ending,
}

/// Why a launch could not be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// The launch itself failed, or tracing it is refused.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The program that counts is not installed.
    #[error(
        "counting instructions needs valgrind, which is not installed; \
         install it with: apt-get install valgrind (dnf install valgrind, pacman -S valgrind)"
    )]
    NoValgrind,
    /// Valgrind ran and left no count.
    #[error("valgrind gave no count for {command}{said}; try it by hand: {by_hand}")]
    NoCount {
        /// The program's command line.
        command: String,
        /// What valgrind wrote, if anything.
        said: String,
        /// Valgrind's own command line.
        by_hand: String,
    },
    /// Files for the counts could not be written or read.
    #[error("{path}: {source}; make room there, or choose another folder with TMPDIR")]
    Files {
        /// The file or folder.
        path: String,
        /// What happened.
        source: std::io::Error,
    },
}

/// Launches `command` and gives its page faults, minor and major together, by the kernel's own
/// account (getrusage(2)): the program's and those of children it waited for. Needs no permission.
///
/// # Errors
/// Where the program cannot be started.
pub fn faults(command: &Command, options: &AttendOptions) -> Result<Counted, CountError> {
    let launch = unwatched(command, options)?.launch;
    let count = match (launch.minor_faults, launch.major_faults) {
        (Reading::Value(minor), Reading::Value(major)) => Reading::Value(minor + major),
        (Reading::Value(_), missing) | (missing, _) => missing,
    };
    Ok(Counted { count, ending: launch.ending })
}
