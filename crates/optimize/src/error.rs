//! Why nothing was optimized.

use loader::GraphError;
use model::Ending;
use std::path::PathBuf;

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
    /// The program is read by another program.
    #[error(
        "'{program}' is a script, which starts its interpreter {interpreter} and perhaps other \
         programs; give the program that takes the time. To find it: headstart explain {program}"
    )]
    Script {
        /// The script.
        program: String,
        /// From its `#!` line.
        interpreter: String,
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
    /// The original fails, is not finished in time, or could not be measured.
    #[error(transparent)]
    Lab(#[from] lab::LabError),
    /// The original, or what is to be measured beside it, could not be measured.
    #[error(transparent)]
    Measure(lab::LabError),
    /// A launch could not be made.
    #[error(transparent)]
    Launch(#[from] os::LaunchError),
    /// What the original does cannot be told from one launch.
    #[error(
        "{command}: it {first} once and {second} the next time, so no variant can be shown to do \
         the same; use arguments with which it always ends in the same way"
    )]
    Unsteady {
        /// The command line.
        command: String,
        /// How it ended.
        first: String,
        /// How it ended the next time.
        second: String,
    },
    /// The user's own test fails for the original.
    #[error(
        "--check {command}: it {ending} for the original program{output}; it must succeed (the \
         program to test is in HEADSTART_PROGRAM)"
    )]
    Check {
        /// The command line.
        command: String,
        /// How it ended.
        ending: String,
        /// What it wrote last.
        output: String,
    },
    /// A folder that variants are built in cannot be used.
    #[error("{}: {problem}; {remedy}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        problem: String,
        /// The next step.
        remedy: &'static str,
    },
    /// A disk is full or broken.
    #[error("{}: {}", path.display(), files::reasons::unwritten(path, source))]
    Disk {
        /// The file or folder that could not be written or read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
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
        reason: String,
    },
}

impl OptimizeError {
    /// Whether the user ended the work.
    pub fn is_interrupt(&self) -> bool {
        match self {
            OptimizeError::Launch(error) => matches!(error, os::LaunchError::Interrupted),
            OptimizeError::Lab(error) | OptimizeError::Measure(error) => error.is_interrupt(),
            _ => false,
        }
    }
}

/// How a launch ended, to follow "it".
pub(crate) fn ended(ending: Ending) -> String {
    match ending {
        Ending::Code(code) => format!("ended with exit code {code}"),
        Ending::Signal(signal) => format!("was killed by signal {signal}"),
        Ending::Ready => "was ready".to_owned(),
        Ending::TimedOut => "timed out".to_owned(),
    }
}
