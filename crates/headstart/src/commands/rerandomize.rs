//! `headstart rerandomize`: a new base for a bundle at fixed addresses.

use crate::output;
use anyhow::Result;
use bundle::Rerandomized;
use std::path::PathBuf;
use std::process::ExitCode;

/// Give a bundle at fixed addresses a new base address, chosen at random
///
/// A bundle made with --fixed has the same addresses at every start; run this daily or at each
/// boot. The bundle can be started at any time meanwhile. A spare copy is kept beside it, so that
/// the next change takes milliseconds.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Folder made by headstart bundle --fixed or headstart optimize
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Moves it.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Rerandomized { from, to, words } = bundle::rerandomize(&arguments.folder)?;
    let how = match words {
        Some(words) => format!("{words} addresses changed"),
        None => "made again around its program, whose own addresses are fixed".to_owned(),
    };
    output::print(&format!("{}: {from:#x} → {to:#x}, {how}\n", arguments.folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
