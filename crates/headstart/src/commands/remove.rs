//! `headstart remove`: the originals are back in their places.

use crate::exit::Usage;
use crate::programs::{self, ScopeArgs};
use anyhow::Result;
use std::process::ExitCode;

/// Undo headstart install: the originals are back, byte by byte
///
/// With the last program, everything goes that headstart install has put on the system: hooks, units,
/// folders. Exits with 6 where a program could not be removed, such as where somebody has replaced it
/// since. What is at its path can be started then, and what was begun is ended by the next remove.
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
    let report = install::remove(&places, &programs::which(&arguments.programs, arguments.all))?;
    programs::tell(report, arguments.json, false)
}
