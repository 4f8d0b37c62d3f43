//! `headstart renew`: installed programs that are stale are made again.

use crate::programs::{self, ScopeArgs};
use crate::progress::StatusLine;
use anyhow::Result;
use std::process::ExitCode;
use std::time::Duration;

/// How long a hook waits for the end of what the package manager does.
const PACKAGES: Duration = Duration::from_secs(30 * 60);

/// Make installed programs again that start their originals
///
/// An installed program starts its original once one of its libraries has changed. This makes its
/// bundle again and verifies it, gives programs at fixed addresses new ones, finishes or undoes what a
/// killed headstart has left, and removes programs whose packages are gone. All of this uses only CPU
/// and disk time that nothing else wants. If something goes wrong, the programs still work.
///
/// A program that can no longer be installed, or would be slower, is removed, and the reason is
/// printed: this exits with 1. Exits with 6 if a program could not be renewed.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Names of programs, or paths that lead to them [default: all]
    #[arg(value_name = "PROGRAM")]
    programs: Vec<String>,
    /// Print only what went wrong, and wait until dpkg has finished: for hooks
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Renews them.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let places = arguments.scope.places(None)?;
    os::interrupt::install();
    // Where that is not permitted, it is done at an ordinary priority.
    let _ = os::background::stand_back();
    let line = if arguments.quiet { StatusLine::silent() } else { StatusLine::new() };
    let which = programs::which(&arguments.programs, arguments.programs.is_empty());
    programs::leave_working_folder()?;
    let mut observe = |name: &str| line.show(0.0, format!("renewing {name}"));
    // Who types it wants an answer.
    let wait = if arguments.quiet { PACKAGES } else { Duration::ZERO };
    let report = install::renew(&places, (&which, wait), &mut observe)?;
    line.clear();
    programs::tell(report, arguments.json, arguments.quiet)
}
