//! The `headstart` command.

mod args;
mod commands;
mod exit;
mod output;
mod progress;
mod run;
mod runner;
mod runs;

use clap::Parser;
use std::process::ExitCode;

/// Find out where a program's start-up time goes, and prove what makes it faster.
#[derive(Debug, Parser)]
#[command(version, after_help = exit::TABLE)]
enum Verb {
    Measure(commands::measure::Arguments),
    Compare(commands::compare::Arguments),
    Explain(commands::explain::Arguments),
    Inspect(commands::inspect::InspectArgs),
    Generate(commands::generate::Arguments),
    Scale(commands::scale::Arguments),
    Simulate(commands::simulate::Arguments),
    OrderNeeded(commands::order_needed::Arguments),
    Selfbind(commands::selfbind::Arguments),
    Relr(commands::relr::Arguments),
    Exec(commands::exec::Arguments),
    Experiment(commands::experiment::Arguments),
    Doctor(commands::doctor::Arguments),
}

fn main() -> ExitCode {
    let done = match Verb::parse() {
        Verb::Measure(arguments) => commands::measure::run(&arguments),
        Verb::Compare(arguments) => commands::compare::run(&arguments),
        Verb::Explain(arguments) => commands::explain::run(&arguments),
        Verb::Inspect(args) => commands::inspect::run(&args),
        Verb::Generate(arguments) => commands::generate::run(&arguments),
        Verb::Scale(arguments) => commands::scale::run(&arguments),
        Verb::Simulate(arguments) => commands::simulate::run(&arguments),
        Verb::OrderNeeded(arguments) => commands::order_needed::run(&arguments),
        Verb::Selfbind(arguments) => commands::selfbind::run(&arguments),
        Verb::Relr(arguments) => commands::relr::run(&arguments),
        Verb::Exec(arguments) => commands::exec::run(&arguments),
        Verb::Experiment(arguments) => commands::experiment::run(&arguments),
        Verb::Doctor(arguments) => commands::doctor::run(&arguments),
    };
    done.unwrap_or_else(|error| exit::report(&error))
}
