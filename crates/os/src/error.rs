//! Why a program cannot be launched, in words that name the next step.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// Why a program could not be launched or traced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The name is neither a path nor found along PATH.
    #[cfg_attr(
        not(windows),
        error("no program named '{0}' in any folder of PATH; check the spelling or give its path")
    )]
    #[cfg_attr(
        windows,
        error(
            "no program named '{0}' in the working folder, the system folder or any folder of PATH; \
             check the spelling or give its path"
        )
    )]
    NotFound(String),
    /// The path does not exist.
    #[error("'{0}' does not exist; check the path")]
    NoSuchFile(PathBuf),
    /// The path is a folder.
    #[error("'{0}' is a folder; give the path of a program in it")]
    IsDirectory(PathBuf),
    /// The file may not be executed.
    #[error("'{0}' is not executable; if it is a program, make it so with: chmod +x '{0}'")]
    NotExecutable(PathBuf),
    /// A `#!` line or PT_INTERP names a file that does not exist.
    #[error("'{program}' needs the interpreter '{interpreter}', which does not exist; {remedy}")]
    NoInterpreter {
        /// The program.
        program: PathBuf,
        /// What it asks for.
        interpreter: String,
        /// The next step.
        remedy: String,
    },
    /// The kernel does not know the file's format.
    #[cfg_attr(not(windows), error("the kernel cannot execute '{program}': {found}; {remedy}"))]
    #[cfg_attr(windows, error("'{program}' cannot be launched: {found}; {remedy}"))]
    WrongFormat {
        /// The program.
        program: PathBuf,
        /// What the file is.
        found: String,
        /// The next step.
        remedy: String,
    },
    /// An argument holds a NUL byte.
    #[error(
        "an argument of '{0}' contains a NUL byte, which cannot be passed to a program; \
     remove it"
    )]
    NulByte(String),
    /// Arguments and environment are more than the kernel passes on.
    #[error("'{program}' could not be started: {found}; pass long lists in a file")]
    TooLong {
        /// The program.
        program: PathBuf,
        /// Which limit was passed.
        found: String,
    },
    /// Somebody has the program open for writing.
    #[error(
        "'{0}' is still open for writing in another process; try again when that is done (fuser \
         -v '{0}' shows the process)"
    )]
    Busy(PathBuf),
    /// The working directory cannot be entered.
    #[error(
        "the working directory '{directory}' cannot be entered: {source}; create it or choose \
         another"
    )]
    Directory {
        /// The folder.
        directory: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A file or folder that the program needs does not let this user in.
    #[error("'{program}' may not be executed: {found}; {remedy}")]
    Refused {
        /// The program.
        program: PathBuf,
        /// What stands in the way.
        found: String,
        /// The next step.
        remedy: String,
    },
    /// execve or its preparation failed otherwise.
    #[error("'{program}' could not be started: {source}{}", crate::program::next_step(.source))]
    Start {
        /// The program.
        program: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A system call that launching needs failed.
    #[error("{action}: {source}; {remedy}")]
    System {
        /// What was attempted.
        action: Cow<'static, str>,
        /// The kernel's answer.
        source: io::Error,
        /// The next step.
        remedy: Cow<'static, str>,
    },
    /// The process that launches programs has ended.
    #[error(
        "the launcher process has been ended: if the program signals its process group or its \
         parent (as kill 0 in a script does), start it as: setsid --wait PROGRAM; otherwise run \
         the command again"
    )]
    LauncherGone,
    /// An error of the launcher process, already in words.
    #[error("{message}")]
    InLauncher {
        /// The error in words.
        message: String,
        /// Its kind there.
        kind: FailureKind,
    },
    /// The program took too long and cannot be ended.
    #[error(
        "process {0} took too long and cannot be ended: it runs as another user; \
         end it with: sudo kill -9 {0}"
    )]
    Unstoppable(i32),
    /// The launch was interrupted by the user.
    #[error("interrupted")]
    Interrupted,
    /// The condition that says "ready" already holds, so it cannot be measured.
    #[error("{0}")]
    AlreadyReady(String),
    /// The mechanism is not permitted here.
    #[cfg_attr(not(windows), error("{mechanism} is not permitted here: {reason}"))]
    #[cfg_attr(windows, error("{mechanism} is not available here: {reason}"))]
    NotPermitted {
        /// Such as `ptrace`.
        mechanism: &'static str,
        /// Why.
        reason: String,
    },
}

/// What a caller may want to tell apart, such as by an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// The program cannot be started as it stands.
    Program,
    /// Something is not permitted here.
    NotPermitted,
    /// The user wanted to stop.
    Interrupted,
    /// What was asked for cannot be had on this system.
    System,
}

impl LaunchError {
    /// The kind of this error.
    pub fn kind(&self) -> FailureKind {
        let refused = |source: &io::Error| source.kind() == io::ErrorKind::PermissionDenied;
        match self {
            LaunchError::InLauncher { kind, .. } => *kind,
            LaunchError::Interrupted => FailureKind::Interrupted,
            LaunchError::NotPermitted { .. } => FailureKind::NotPermitted,
            LaunchError::System { source, .. } if refused(source) => FailureKind::NotPermitted,
            LaunchError::System { .. } | LaunchError::LauncherGone => FailureKind::System,
            _ => FailureKind::Program,
        }
    }

    /// A failed system call with the `errno` of the calling thread.
    pub fn system(action: &'static str, remedy: &'static str) -> Self {
        LaunchError::failed(action, remedy)(io::Error::last_os_error())
    }

    /// What makes the error of a failed system call of its source.
    pub(crate) fn failed<E: Into<io::Error>>(
        action: &'static str,
        remedy: &'static str,
    ) -> impl Fn(E) -> LaunchError + Copy {
        move |source| LaunchError::System {
            action: action.into(),
            source: source.into(),
            remedy: remedy.into(),
        }
    }
}
