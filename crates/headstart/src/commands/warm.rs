//! `headstart warm`: a bundle in large pages of memory.

use crate::output;
use anyhow::Result;
use model::LargePages;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Read a bundle into memory in large pages (2 MiB)
///
/// A start from large pages takes fewer page faults. headstart bundle, rerandomize and renew already do this.
/// Run warm at boot, and after the bundle was evicted from memory: a start that reads it from the disk brings
/// it into memory in smaller pages. The bundle is not changed, and can be started meanwhile.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Folder made by headstart bundle (also with --toolchain) or headstart optimize
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Reads it in.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if bundle::is_toolchain(&arguments.folder) {
        return of_toolchain(arguments);
    }
    let pages = bundle::warm(&arguments.folder)?;
    let name = arguments.folder.display().to_string();
    output::print_either(arguments.json, &pages, |style| {
        report::bundle::warmed(&name, &pages, style)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads all bundles of a toolchain in.
fn of_toolchain(arguments: &Arguments) -> Result<ExitCode> {
    let mut all: BTreeMap<String, LargePages> = BTreeMap::new();
    for folder in bundle::toolchain_bundles(&arguments.folder)? {
        all.insert(folder.display().to_string(), bundle::warm(&folder)?);
    }
    output::print_either(arguments.json, &all, |style| {
        all.iter().map(|(name, pages)| report::bundle::warmed(name, pages, style)).collect()
    })?;
    Ok(ExitCode::SUCCESS)
}
