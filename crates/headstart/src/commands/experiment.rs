//! `headstart experiment`: published experiments, made again here.

mod dawson;
mod openoffice;
mod pagein;
mod pietrek;
mod prefetch;
mod probe;

use crate::exit::FileError;
use anyhow::Result;
use clap::{Args, Subcommand};
use std::path::Path;
use std::process::ExitCode;

/// Reproduce a published experiment on this machine
///
/// One command generates the workload, measures it, and leaves tables and graphs in a run folder.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    which: Which,
}

#[derive(Debug, Subcommand)]
enum Which {
    Pietrek(pietrek::Arguments),
    Dawson(dawson::Arguments),
    Openoffice(Box<openoffice::Arguments>),
    Prefetch(prefetch::Arguments),
    Pagein(pagein::Arguments),
    Probe(probe::Arguments),
}

/// Makes the experiment and prints what it shows.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.which {
        Which::Pietrek(arguments) => pietrek::run(arguments),
        Which::Dawson(arguments) => dawson::run(arguments),
        Which::Openoffice(arguments) => openoffice::run(arguments),
        Which::Prefetch(arguments) => prefetch::run(arguments),
        Which::Pagein(arguments) => pagein::run(arguments),
        Which::Probe(arguments) => probe::run(arguments),
    }
}

/// Makes the folder of `--save`, which is to be a new one.
fn new_folder(folder: &Path) -> Result<()> {
    Ok(std::fs::create_dir(folder).map_err(|source| FileError {
        path: folder.display().to_string(),
        source,
        remedy: "name a new folder in one that exists and may be written to",
    })?)
}
