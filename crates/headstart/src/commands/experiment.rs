//! `headstart experiment`: published experiments, made again here.

mod dawson;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod new_folder;
#[cfg(target_os = "linux")]
mod openoffice;
#[cfg(target_os = "linux")]
mod pagein;
mod pietrek;
#[cfg(target_os = "linux")]
mod prefetch;
#[cfg(target_os = "linux")]
mod probe;

use anyhow::Result;
use clap::{Args, Subcommand};
#[cfg(target_os = "linux")]
use new_folder::new_folder;
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
    #[cfg(target_os = "linux")]
    Openoffice(Box<openoffice::Arguments>),
    #[cfg(target_os = "linux")]
    Prefetch(prefetch::Arguments),
    #[cfg(target_os = "linux")]
    Pagein(pagein::Arguments),
    #[cfg(target_os = "linux")]
    Probe(probe::Arguments),
    #[cfg(not(target_os = "linux"))]
    #[command(flatten)]
    Elsewhere(elsewhere::LinuxExperiment),
}

/// Makes the experiment and prints what it shows.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.which {
        Which::Pietrek(arguments) => pietrek::run(arguments),
        Which::Dawson(arguments) => dawson::run(arguments),
        #[cfg(target_os = "linux")]
        Which::Openoffice(arguments) => openoffice::run(arguments),
        #[cfg(target_os = "linux")]
        Which::Prefetch(arguments) => prefetch::run(arguments),
        #[cfg(target_os = "linux")]
        Which::Pagein(arguments) => pagein::run(arguments),
        #[cfg(target_os = "linux")]
        Which::Probe(arguments) => probe::run(arguments),
        #[cfg(not(target_os = "linux"))]
        Which::Elsewhere(experiment) => Err(experiment.not_here()),
    }
}
