//! Exit codes, decided in one place. `headstart --help` prints the table.

use bundle::BundleError;
use image::ImageError;
use image::apply::ApplyError;
use lab::LabError;
use loader::GraphError;
use optimize::{LinkError, OptimizeError};
use os::wine::WineError;
use os::{FailureKind, LaunchError};
use std::process::ExitCode;
use workload::WorkloadError;

/// The table of exit codes, for `--help`.
pub const TABLE: &str = "  0    done
  1    the answer is no: a command is slower than --fail-if-slower allows, there
       is a warning under --strict, inspect or identify cannot read a file,
       a file is not what identify --is asks for, a file is declined by a
       command that would change or bundle it, verify finds a change
  2    the command line is wrong
  3    a program could not be started
  4    a program failed (see --ignore-failure)
  5    a program did not finish in time (see --timeout, --until)
  6    a run folder or file could not be read or written
  7    not permitted here
  8    headstart itself failed
  130  interrupted; what was measured is printed and kept";

/// The answer is no.
pub const NO: u8 = 1;
/// The command line is wrong, in a way that clap cannot see.
const USAGE: u8 = 2;
const NOT_STARTED: u8 = 3;
const PROGRAM_FAILED: u8 = 4;
const TIMED_OUT: u8 = 5;
/// A run folder or file could not be read or written.
pub const FILES: u8 = 6;
const NOT_PERMITTED: u8 = 7;
const HEADSTART_FAILED: u8 = 8;
/// 128 + SIGINT, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// A command line that clap accepts and that is wrong all the same.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// headstart cannot start the threads that it works with.
#[derive(Debug, thiserror::Error)]
#[error(
    "headstart cannot start its threads: {source} ({limits}); raise the limit, or end other \
     processes"
)]
pub struct NoThreads {
    /// How many processes and threads there may be, in words.
    pub limits: String,
    /// What happened.
    pub source: std::io::Error,
}

/// A file or standard output that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}; {remedy}")]
pub struct FileError {
    /// The file.
    pub path: String,
    /// What happened.
    pub source: std::io::Error,
    /// The next step.
    pub remedy: &'static str,
}

/// Some files of several could not be written or restored; the text names them.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotAll(pub String);

/// A file that is not rewritten, for a reason.
#[derive(Debug, thiserror::Error)]
#[error("{path} is not rewritten: {reason}")]
pub struct Declines {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// A file of headstart's own that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Unusable {
    /// The file.
    pub path: String,
    /// Why, and the next step.
    pub reason: String,
}

/// Prints the error and gives its exit code. A reader that has gone away is no error.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    anstream::eprintln!("headstart: {}", words(error));
    ExitCode::from(code(error))
}

/// Whether the error says what the system's means, in other words than the system.
fn explains(error: &anyhow::Error) -> bool {
    error.is::<BundleError>()
        || error.is::<LinkError>()
        || error.is::<OptimizeError>()
        || error.is::<ApplyError>()
        || error.is::<ImageError>()
        || error.is::<GraphError>()
}

/// The error and its causes, each once: most errors name their cause themselves.
fn words(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    if explains(error) {
        return words;
    }
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words += &format!(": {cause}");
        }
    }
    words
}

/// Whether the user ended what was under way.
pub fn is_interrupt(error: &anyhow::Error) -> bool {
    code(error) == INTERRUPTED
}

fn broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

fn code(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<LabError>() {
        return lab_code(error);
    }
    if let Some(error) = error.downcast_ref::<LaunchError>() {
        return launch_code(error);
    }
    if let Some(error) = error.downcast_ref::<WineError>() {
        return wine_code(error);
    }
    if let Some(error) = error.downcast_ref::<WorkloadError>() {
        return workload_code(error);
    }
    if let Some(error) = error.downcast_ref::<GraphError>() {
        return graph_code(error);
    }
    if let Some(error) = error.downcast_ref::<LinkError>() {
        return link_code(error);
    }
    if let Some(error) = error.downcast_ref::<BundleError>() {
        return bundle_code(error);
    }
    if let Some(error) = error.downcast_ref::<OptimizeError>() {
        return optimize_code(error);
    }
    if error.is::<Usage>() {
        return USAGE;
    }
    if error.is::<Declines>() {
        return NO;
    }
    if error.is::<NoThreads>() {
        return NOT_PERMITTED;
    }
    let database = error.is::<dlls::rebase::DatabaseError>();
    if let Some(error) = error.downcast_ref::<ImageError>() {
        return image_code(error);
    }
    let record = error.is::<Unusable>();
    if database
        || record
        || error.is::<NotAll>()
        || error.is::<ApplyError>()
        || error.is::<FileError>()
    {
        FILES
    } else {
        HEADSTART_FAILED
    }
}

/// A file of another kind, or a damaged one, is an answer; one that cannot be read is none.
fn image_code(error: &ImageError) -> u8 {
    match error {
        ImageError::Io { .. } | ImageError::NotAFile { .. } | ImageError::Changed(_) => FILES,
        _ => NO,
    }
}

fn link_code(error: &LinkError) -> u8 {
    match error {
        LinkError::Graph { source } => graph_code(source),
        LinkError::NothingToGain { .. }
        | LinkError::Edit { .. }
        | LinkError::Privileged { .. }
        | LinkError::Changed { .. } => NO,
        LinkError::Image(error) => image_code(error),
        LinkError::Apply(_) | LinkError::Io { .. } => FILES,
    }
}

fn lab_code(error: &LabError) -> u8 {
    match error {
        LabError::Launch(error) => launch_code(error),
        LabError::Wine(error) => wine_code(error),
        LabError::Failed { .. } | LabError::NeverReady { .. } | LabError::Hook { .. } => {
            PROGRAM_FAILED
        }
        LabError::TimedOut { .. } => TIMED_OUT,
        LabError::Folder { .. } | LabError::Stream { .. } => FILES,
        LabError::Cold(_) => NOT_PERMITTED,
        _ => HEADSTART_FAILED,
    }
}

fn graph_code(error: &GraphError) -> u8 {
    match error {
        GraphError::Image(error) => image_code(error),
        GraphError::Library { .. } => FILES,
        _ => NO,
    }
}

fn bundle_code(error: &BundleError) -> u8 {
    match error {
        BundleError::Closure(error) => graph_code(error),
        BundleError::Declined { .. }
        | BundleError::Unresolved { .. }
        | BundleError::NotFixed(_) => NO,
        BundleError::Image(error) => image_code(error),
        BundleError::NotABundle { .. }
        | BundleError::NotOurs { .. }
        | BundleError::ChangedMeanwhile(_)
        | BundleError::Write { .. }
        | BundleError::NotMoved { .. }
        | BundleError::Occupied { .. }
        | BundleError::Io { .. } => FILES,
    }
}

fn optimize_code(error: &OptimizeError) -> u8 {
    match error {
        OptimizeError::Graph(error) => graph_code(error),
        OptimizeError::Lab(error) => lab_code(error),
        OptimizeError::Launch(error) => launch_code(error),
        OptimizeError::Script { .. }
        | OptimizeError::Privileged { .. }
        | OptimizeError::Bundle { .. } => NO,
        OptimizeError::Unsteady { .. } | OptimizeError::Check { .. } => PROGRAM_FAILED,
        OptimizeError::Folder { .. }
        | OptimizeError::NotAgain { .. }
        | OptimizeError::Disk { .. } => FILES,
        _ => HEADSTART_FAILED,
    }
}

fn wine_code(error: &WineError) -> u8 {
    match error {
        WineError::Launch(error) => launch_code(error),
        WineError::Prefix { .. } => FILES,
        WineError::ServerGone => HEADSTART_FAILED,
        _ => NOT_STARTED,
    }
}

fn workload_code(error: &WorkloadError) -> u8 {
    match error {
        WorkloadError::TooLarge { .. }
        | WorkloadError::Unsupported { .. }
        | WorkloadError::Pe(_) => USAGE,
        WorkloadError::NotEmpty { .. }
        | WorkloadError::Claimed { .. }
        | WorkloadError::Io { .. } => FILES,
        _ => HEADSTART_FAILED,
    }
}

fn launch_code(error: &LaunchError) -> u8 {
    match error.kind() {
        FailureKind::Program => NOT_STARTED,
        FailureKind::NotPermitted => NOT_PERMITTED,
        FailureKind::Interrupted => INTERRUPTED,
        FailureKind::System => HEADSTART_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let denied = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let file = FileError { path: "/x".to_owned(), source: denied(), remedy: "do" };
        let text = file.to_string();
        assert_eq!(words(&file.into()), text);
        let explained = BundleError::Write { path: "/x".into(), source: denied() };
        assert!(!words(&explained.into()).contains(&denied().to_string()));
        let outer = anyhow::Error::from(denied()).context("reading /x");
        assert_eq!(words(&outer), format!("reading /x: {}", denied()));
    }
}
