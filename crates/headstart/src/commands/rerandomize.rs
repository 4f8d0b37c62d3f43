//! `headstart rerandomize`: a new base for a bundle at fixed addresses.

use crate::output;
use anyhow::Result;
use bundle::Rerandomized;
use std::path::PathBuf;
use std::process::ExitCode;

/// Give a bundle at fixed addresses a new base, chosen by chance
///
/// For once a day or at every boot, as a bundle made with --fixed has the same addresses at every
/// start. It can be started meanwhile, with the old base or the new one. A spare of the file is
/// kept beside it, so that the next time takes milliseconds.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Folder that headstart bundle --fixed, or optimize, has made
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
