//! The `headstart` command.

mod commands;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Measure, explain and improve the start-up time of programs.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Inspect(commands::inspect::InspectArgs),
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().verb {
        Verb::Inspect(args) => commands::inspect::run(&args),
    }
}
