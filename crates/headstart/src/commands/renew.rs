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
/// A program of headstart install starts its original once a library of it has changed. This makes and
/// verifies it again, gives programs at fixed addresses new ones, ends or undoes what a killed
/// headstart has left, and takes those out whose packages were removed. All of that uses only CPU and
/// disk time that nothing else wants. Where something goes wrong, what is there still works.
///
/// Exits with 1 where a program is not as it should be: it is removed then, as the reason says; with 6
/// where a program could not be renewed now.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Names of programs, or paths that lead to them [default: all]
    #[arg(value_name = "PROGRAM")]
    programs: Vec<String>,
    /// Say only what went wrong, and wait until dpkg has ended: for hooks
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
    let mut observe = |name: &str| line.show(0.0, format!("renewing {name}"));
    // Who types it wants an answer.
    let wait = if arguments.quiet { PACKAGES } else { Duration::ZERO };
    let report = install::renew(&places, (&which, wait), &mut observe)?;
    line.clear();
    programs::tell(report, arguments.json, arguments.quiet)
}
