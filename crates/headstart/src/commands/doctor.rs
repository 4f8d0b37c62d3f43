//! `headstart doctor`: what on this machine makes measurements noisy or features unavailable.

use crate::output;
use model::CheckState;
use std::process::ExitCode;

/// Show what makes measurements on this machine noisy, or features unavailable
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print one JSON array of checks {id, state, found, effect, remedy}
    #[arg(long)]
    json: bool,
    /// Exit with code 1 if there is a warning
    #[arg(long)]
    strict: bool,
}

/// Runs the checks and prints them.
///
/// # Errors
/// Where standard output cannot be written.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let checks = os::checks::run();
    let text = if arguments.json {
        serde_json::to_string_pretty(&checks)? + "\n"
    } else {
        report::doctor::view(&checks, &output::style())
    };
    output::print(&text)?;
    let warned = checks.iter().any(|check| check.state == CheckState::Warning);
    Ok(ExitCode::from(u8::from(arguments.strict && warned)))
}
