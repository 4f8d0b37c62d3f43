//! Exit codes, decided in one place. `headstart --help` prints the table.

mod command;
mod launches;
mod libraries;
#[cfg(target_os = "linux")]
mod linux;
mod traces;

pub use command::{FileError, Usage, WithCode};
pub use launches::{PROGRAM_FAILED, TIMED_OUT, unkept, until_words, verb};
pub use libraries::unwritten;
#[cfg(target_os = "linux")]
pub use linux::interrupted;

use crate::output;
use dlls::rebase::DatabaseError;
use files::WriteError;
use image::ImageError;
use loader::GraphError;
use os::LaunchError;
use rewrite::ElfRewriteError;
use std::error::Error;
use std::process::ExitCode;
use workload::WorkloadError;

/// The table of exit codes, with what a host says of files that are declined, and of interruptions.
macro_rules! table {
    ($declined:literal, $interrupted:literal) => {
        concat!(
            "  0    done
  1    the answer is no: a command is slower than --fail-if-slower allows, there
       is a warning under --strict, inspect or identify cannot read a file,
       a file is not what identify --is asks for, a file is declined by a
       ",
            $declined,
            ", verify finds a change
  2    the command line is wrong
  3    a program could not be started
  4    a program failed (see --ignore-failure)
  5    a program did not finish in time (see --timeout, --until)
  6    a run folder or file could not be read or written
  7    not permitted here
  8    headstart itself failed
  130  interrupted; what was measured is printed and kept",
            $interrupted
        )
    };
}

/// The table of exit codes, for `--help`.
#[cfg(not(windows))]
pub const TABLE: &str = table!(
    "command that would change, bundle or install it",
    ", but not a partial
       recording (trace: 128 and the signal's number, 143 after SIGTERM)"
);
#[cfg(windows)]
pub const TABLE: &str = table!("command that would change it", "");

/// The answer is no.
pub const NO: u8 = 1;
/// The command line is wrong, in a way that clap cannot see.
const USAGE: u8 = 2;
/// A program could not be started.
pub const NOT_STARTED: u8 = 3;
/// A run folder or file could not be read or written.
pub const FILES: u8 = 6;
/// Not permitted here.
pub const NOT_PERMITTED: u8 = 7;
const HEADSTART_FAILED: u8 = 8;
/// 128 + SIGINT, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// [`INTERRUPTED`] where the user wanted to stop.
#[cfg(not(target_os = "linux"))]
pub fn interrupted() -> Option<u8> {
    os::interrupt::requested().then_some(INTERRUPTED)
}

/// An error of which is known what it means to whoever typed the command.
trait Known: Error + 'static {
    /// The exit code.
    fn code(&self) -> u8;

    /// What is printed of it: the error, and what can be done about it on the command line.
    fn words(&self) -> String {
        self.to_string()
    }
}

/// Gives the error as one that is known, where it is of a certain type.
type AsKnown = fn(&anyhow::Error) -> Option<&dyn Known>;

/// The types of known errors: of the command itself, then of the libraries.
const KNOWN: &[AsKnown] = &[
    as_known::<Usage>,
    as_known::<FileError>,
    as_known::<WithCode>,
    as_known::<LaunchError>,
    as_known::<WorkloadError>,
    as_known::<GraphError>,
    as_known::<ImageError>,
    as_known::<WriteError>,
    as_known::<DatabaseError>,
    as_known::<ElfRewriteError>,
];
#[cfg(target_os = "linux")]
const OF_LINUX: &[AsKnown] = linux::KNOWN;
#[cfg(not(target_os = "linux"))]
const OF_LINUX: &[AsKnown] = &[];

fn as_known<E: Known + Send + Sync>(error: &anyhow::Error) -> Option<&dyn Known> {
    Some(error.downcast_ref::<E>()?)
}

/// The error as one that is known; any other is headstart's own failure.
fn known(error: &anyhow::Error) -> Option<&dyn Known> {
    KNOWN
        .iter()
        .chain(launches::KNOWN)
        .chain(traces::KNOWN)
        .chain(OF_LINUX)
        .find_map(|as_known| as_known(error))
}

/// Prints the error and gives its exit code. A reader that has gone away is no error.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    output::tell(words(error));
    ExitCode::from(code(error))
}

/// Whether the user ended what was under way.
pub fn is_interrupt(error: &anyhow::Error) -> bool {
    code(error) == INTERRUPTED
}

fn code(error: &anyhow::Error) -> u8 {
    known(error).map_or(HEADSTART_FAILED, Known::code)
}

/// What is printed of the error. A known one says itself what its causes mean; of others the causes
/// are printed, each once.
fn words(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    if let Some(known) = known(error).filter(|known| known.to_string() == words) {
        return known.words();
    }
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words += &format!(": {cause}");
        }
    }
    words
}

fn broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
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
        let outer = anyhow::Error::from(denied()).context("reading /x");
        assert_eq!(words(&outer), format!("reading /x: {}", denied()));
    }
}
