//! `headstart doctor`: what on this machine makes measurements noisy or features unavailable.

use model::CheckState;
use std::io::Write;
use std::process::ExitCode;

/// Columns of the text; terminals are rarely narrower and long lines are hard to read.
const WIDTH: usize = 80;

/// Say what on this machine makes measurements noisy or features unavailable
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
        report::doctor::view(&checks, WIDTH)
    };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    let warned = checks.iter().any(|check| check.state == CheckState::Warning);
    Ok(ExitCode::from(u8::from(arguments.strict && warned)))
}
