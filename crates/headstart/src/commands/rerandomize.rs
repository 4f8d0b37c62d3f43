//! `headstart rerandomize`: a new base for a bundle at fixed addresses.

use crate::output;
use anyhow::Result;
use bundle::Rerandomized;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Give a bundle at fixed addresses a new base address, chosen at random
///
/// A bundle made with --fixed has the same addresses at every start; run this daily or at each
/// boot. The bundle can be started at any time meanwhile. A spare copy is kept beside it, so that
/// the next change takes milliseconds.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Folder made by headstart bundle --fixed (also with --toolchain) or headstart optimize
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Moves it.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if bundle::is_toolchain(&arguments.folder) {
        for folder in bundle::toolchain_bundles(&arguments.folder)? {
            told(&folder, &bundle::rerandomize(&folder)?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    told(&arguments.folder, &bundle::rerandomize(&arguments.folder)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Says what was done.
fn told(folder: &Path, done: &Rerandomized) -> Result<()> {
    let Rerandomized { from, to, words } = *done;
    let how = match words {
        Some(words) => format!("{words} addresses changed"),
        None => "made again around its program, whose own addresses are fixed".to_owned(),
    };
    output::print(&format!("{}: {from:#x} → {to:#x}, {how}\n", folder.display()))
}
