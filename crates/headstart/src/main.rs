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
    Optimize(commands::optimize::Arguments),
    Bundle(commands::bundle::Arguments),
    Verify(commands::verify::Arguments),
    Rerandomize(commands::rerandomize::Arguments),
    Selfbind(commands::selfbind::Arguments),
    OrderNeeded(commands::order_needed::Arguments),
    Exec(commands::exec::Arguments),
    Relr(commands::relr::Arguments),
    Rebase(commands::rebase::Arguments),
    Bind(commands::bind::Arguments),
    Unbind(commands::unbind::Arguments),
    Hints(commands::hints::Arguments),
    Ordinal(commands::ordinal::Arguments),
    Realign(commands::realign::Arguments),
    Flags(commands::flags::Arguments),
    Simulate(commands::simulate::Arguments),
    Inspect(commands::inspect::InspectArgs),
    Identify(commands::identify::Arguments),
    Generate(commands::generate::Arguments),
    Scale(commands::scale::Arguments),
    Experiment(commands::experiment::Arguments),
    Doctor(commands::doctor::Arguments),
}

fn main() -> ExitCode {
    let done = match Verb::parse() {
        Verb::Measure(arguments) => commands::measure::run(&arguments),
        Verb::Compare(arguments) => commands::compare::run(&arguments),
        Verb::Explain(arguments) => commands::explain::run(&arguments),
        Verb::Optimize(arguments) => commands::optimize::run(&arguments),
        Verb::Bundle(arguments) => commands::bundle::run(&arguments),
        Verb::Verify(arguments) => commands::verify::run(&arguments),
        Verb::Rerandomize(arguments) => commands::rerandomize::run(&arguments),
        Verb::Selfbind(arguments) => commands::selfbind::run(&arguments),
        Verb::OrderNeeded(arguments) => commands::order_needed::run(&arguments),
        Verb::Exec(arguments) => commands::exec::run(&arguments),
        Verb::Relr(arguments) => commands::relr::run(&arguments),
        Verb::Rebase(arguments) => commands::rebase::run(&arguments),
        Verb::Bind(arguments) => commands::bind::run(&arguments),
        Verb::Unbind(arguments) => commands::unbind::run(&arguments),
        Verb::Hints(arguments) => commands::hints::run(&arguments),
        Verb::Ordinal(arguments) => commands::ordinal::run(&arguments),
        Verb::Realign(arguments) => commands::realign::run(&arguments),
        Verb::Flags(arguments) => commands::flags::run(&arguments),
        Verb::Simulate(arguments) => commands::simulate::run(&arguments),
        Verb::Inspect(args) => commands::inspect::run(&args),
        Verb::Identify(arguments) => commands::identify::run(&arguments),
        Verb::Generate(arguments) => commands::generate::run(&arguments),
        Verb::Scale(arguments) => commands::scale::run(&arguments),
        Verb::Experiment(arguments) => commands::experiment::run(&arguments),
        Verb::Doctor(arguments) => commands::doctor::run(&arguments),
    };
    done.unwrap_or_else(|error| exit::report(&error))
}
