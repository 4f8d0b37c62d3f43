//! `headstart verify`: whether a bundle is still what its program is.

use crate::exit;
use crate::output;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check whether a bundle's program and libraries are still those that it was made of
///
/// Every file is read and compared by its content, and the loader's search is simulated again.
/// Exits with 1 where something has changed: the bundle starts the original then, until it is
/// made again.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Folder that headstart bundle or optimize has made
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Looks and tells.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let verification = bundle::verify(&arguments.folder)?;
    output::print(&if arguments.json {
        report::export::json(&verification)?
    } else {
        report::bundle::verified(&verification, &output::style())
    })?;
    Ok(if verification.current { ExitCode::SUCCESS } else { ExitCode::from(exit::NO) })
}
