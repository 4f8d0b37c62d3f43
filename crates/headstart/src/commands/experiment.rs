//! `headstart experiment`: published experiments, made again here.

mod dawson;
mod openoffice;
mod pietrek;

use anyhow::Result;
use clap::{Args, Subcommand};
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
}

/// Makes the experiment and prints what it shows.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.which {
        Which::Pietrek(arguments) => pietrek::run(arguments),
        Which::Dawson(arguments) => dawson::run(arguments),
        Which::Openoffice(arguments) => openoffice::run(arguments),
    }
}
