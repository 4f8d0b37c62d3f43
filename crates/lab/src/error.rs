//! Why launches end before their time.

use crate::command_line::CommandLineError;
use model::{Ending, Experiment, Until, VariantId};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// Why a run stopped before its end. What was measured until then is in the run folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A program could not be launched.
    #[error(transparent)]
    Launch(#[from] os::LaunchError),
    /// Wine cannot be used, or has gone.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Wine(#[from] os::wine::WineError),
    /// The words of a command are none.
    #[error(transparent)]
    CommandLine(#[from] CommandLineError),
    /// Work cannot be counted here.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Count(os::count::CountError),
    /// A workload cannot be generated.
    #[error(transparent)]
    Workload(#[from] workload::WorkloadError),
    /// What was asked for cannot be generated or launched; the text says why.
    #[error("{0}")]
    Unsuitable(String),
    /// What was found cannot be used; the text says why, and the next step.
    #[error("{0}")]
    Unusable(String),
    /// Generated workloads cannot be written or removed.
    #[error("{path}: {source}")]
    Workloads {
        /// Their folder.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// There is no place for generated workloads.
    #[cfg_attr(
        not(windows),
        error("a temporary folder for the workloads: {0}; choose another place with TMPDIR")
    )]
    #[cfg_attr(
        windows,
        error("a temporary folder for the workloads: {0}; choose another place with TMP")
    )]
    NoTemporaryFolder(#[source] std::io::Error),
    /// Nothing says where runs are kept.
    #[cfg_attr(not(windows), error("neither XDG_CACHE_HOME nor HOME is set"))]
    #[cfg_attr(windows, error("LOCALAPPDATA is not set"))]
    NoDefaultFolder,
    /// A program failed.
    #[error("{command}: it {}{output}", .ending.words())]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
        /// The last lines of what it wrote when launched once more.
        output: String,
    },
    /// A program failed whose work was to be counted.
    #[error("{command}: it {}", .ending.words())]
    NotCounted {
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
    },
    /// A program did not finish in time.
    #[error("{command}: it did not finish within {timeout_s} s and was ended with its children")]
    TimedOut {
        /// The command line.
        command: String,
        /// The limit.
        timeout_s: f64,
    },
    /// A program ended before it was ready.
    #[error("{command}: it {} before it was ready{output}", .ending.words())]
    NeverReady {
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
        /// What was waited for.
        until: Until,
        /// The last lines of what it wrote when launched once more.
        output: String,
    },
    /// A command that is run around launches failed.
    #[error("{command}: it {}{output}", .ending.words())]
    Hook {
        /// When it is run.
        hook: HookKind,
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
        /// The last lines of what it wrote.
        output: String,
    },
    /// The run folder could not be written or read.
    #[error("run folder '{path}': {problem}; {remedy}")]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What happened.
        problem: String,
        /// The next step.
        remedy: FolderRemedy,
    },
    /// A file that programs are to read from or write to could not be opened.
    #[error("{path}: {source}; name a file that can be {}", .stream.used())]
    Stream {
        /// Which of their streams it is.
        stream: StreamKind,
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// The cache could not be emptied.
    #[error("the page cache cannot be emptied: {0}")]
    Cold(String),
}

/// When a command is run around launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookKind {
    /// Before the first launch of all.
    Setup,
    /// Before each launch.
    Prepare,
    /// After each launch.
    Conclude,
    /// After the last launch of all.
    Cleanup,
}

/// A stream of launched programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// What they read.
    Input,
    /// What they write.
    Output,
}

impl StreamKind {
    fn used(self) -> &'static str {
        match self {
            StreamKind::Input => "read",
            StreamKind::Output => "written",
        }
    }
}

/// What can be done where a run folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderRemedy {
    /// Another folder.
    Another,
    /// Continue the run that is in it, or choose another folder.
    ContinueOrAnother(Series),
    /// Make it writable, or choose another folder.
    WritableOrAnother,
    /// Free some space, then continue the run.
    FreeSpace,
    /// As it says.
    Other(String),
}

impl Display for FolderRemedy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FolderRemedy::Another => "choose another folder",
            FolderRemedy::ContinueOrAnother(_) => "continue that run, or choose another folder",
            FolderRemedy::WritableOrAnother => "make it writable, or choose another folder",
            FolderRemedy::FreeSpace => {
                "free some space, then continue the run; the launches before this one are kept"
            }
            FolderRemedy::Other(remedy) => remedy,
        })
    }
}

/// What a kept run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// One variant.
    OfOne,
    /// Several variants, compared.
    OfSeveral,
    /// The sizes of a sweep.
    OfSizes,
}

impl Series {
    /// What launches of the experiment's variants are.
    pub fn of_experiment(experiment: &Experiment) -> Series {
        if experiment.variants.len() > 1 { Series::OfSeveral } else { Series::OfOne }
    }
}

#[cfg(target_os = "linux")]
impl From<os::count::CountError> for LabError {
    fn from(error: os::count::CountError) -> LabError {
        match error {
            os::count::CountError::Launch(error) => error.into(),
            other => LabError::Count(other),
        }
    }
}

impl LabError {
    /// A file or folder of a run that cannot be used, and the next step.
    pub(crate) fn folder(path: &Path, problem: impl ToString, remedy: &str) -> LabError {
        let remedy = FolderRemedy::Other(remedy.to_owned());
        LabError::Folder { path: path.to_owned(), problem: problem.to_string(), remedy }
    }

    /// Whether the user ended the run.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, LabError::Launch(os::LaunchError::Interrupted))
    }
}

/// Why launches ended before their time, and whose launch it was.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    /// The variant that was to be launched; none where it is not about one.
    pub variant: Option<VariantId>,
    /// What happened.
    pub error: LabError,
}

impl Failure {
    /// What happened at a launch of this variant.
    pub fn at(variant: VariantId, error: impl Into<LabError>) -> Failure {
        Failure { variant: Some(variant), error: error.into() }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        Failure { variant: None, error }
    }
}

impl From<Failure> for LabError {
    fn from(failure: Failure) -> LabError {
        failure.error
    }
}
