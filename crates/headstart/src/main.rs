//! The `headstart` command.

mod commands;

use clap::Parser;
use std::process::ExitCode;

/// Measure, explain and improve the start-up time of programs.
#[derive(Debug, Parser)]
#[command(version)]
enum Verb {
    Inspect(commands::inspect::InspectArgs),
    /// Say what on this machine makes measurements noisy or features unavailable
    Doctor(commands::doctor::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    match Verb::parse() {
        Verb::Inspect(args) => commands::inspect::run(&args),
        Verb::Doctor(arguments) => commands::doctor::run(&arguments),
    }
}
