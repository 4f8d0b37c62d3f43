//! `headstart remove`: the originals are back in their places.

use crate::exit::Usage;
use crate::programs::{self, ScopeArgs};
use anyhow::Result;
use std::process::ExitCode;

/// Undo headstart install: the originals are back, byte by byte
///
/// With the last program, everything that headstart install has put on the system is removed: hooks,
/// units, folders. Exits with 6 if a program could not be removed, for example because somebody has
/// replaced it. The file at its path can still be started, and the next remove finishes what was begun.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Names of programs, or paths that lead to them
    #[arg(value_name = "PROGRAM", required_unless_present = "all")]
    programs: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "programs")]
    all: bool,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Removes them.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.programs.iter().any(String::is_empty) {
        return Err(Usage("a program has no name".to_owned()).into());
    }
    let places = arguments.scope.places(None)?;
    let which = programs::which(&arguments.programs, arguments.all);
    programs::leave_working_folder()?;
    let report = install::remove(&places, &which)?;
    programs::tell(report, arguments.json, false)
}
