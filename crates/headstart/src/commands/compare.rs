//! `headstart compare`: which of several commands starts faster.

use crate::args::{MeasuredArgs, OutputArgs, ScheduleArgs, fraction, named};
use crate::{exit, run};
use anyhow::Result;
use model::{Results, Verdict};
use os::launcher::Launcher;
use std::process::ExitCode;

/// Compare how fast commands start
///
/// Each command is one argument, such as 'git --version'; the first is what the others are
/// compared with. They are launched in turns, in a random order that changes every round, so
/// that whatever else the machine does meets them all alike. A difference is called one only
/// where the 99 % interval of the ratio says so.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Commands; words in front such as NAME=value set variables
    #[arg(required_unless_present = "resume", num_args = 2.., value_name = "CMD")]
    pub commands: Vec<String>,
    /// Name of a command in the output; once for each, in their order
    #[arg(short, long = "name", value_name = "NAME")]
    pub names: Vec<String>,
    /// Exit with code 1 if a command is this much slower than the first, such as 5%
    #[arg(long, value_name = "X%", value_parser = fraction)]
    pub fail_if_slower: Option<f64>,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub launching: MeasuredArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Launches the commands in turns and prints their times and differences.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launcher = Launcher::start()?;
    let variants = match arguments.commands.as_slice() {
        [] => None,
        lines => Some(named(lines, &arguments.names)?),
    };
    let finished = run::run(launcher, variants, &arguments.schedule, &arguments.launching)?;
    finished.print(&arguments.output, report::compare_view)?;
    let too_slow = arguments.fail_if_slower.is_some_and(|limit| too_slow(&finished.results, limit));
    finished.conclude(if too_slow { exit::NO } else { 0 })
}

/// Says which commands are slower than the limit allows: only where a difference is proved.
fn too_slow(results: &Results, limit: f64) -> bool {
    let mut found = false;
    for effect in &results.effects {
        if effect.verdict == Verdict::Slower && effect.ratio >= 1.0 + limit {
            anstream::eprintln!(
                "headstart: {} is {:.1} % slower than {}, more than the {} % allowed",
                effect.variant,
                (effect.ratio - 1.0) * 100.0,
                effect.baseline,
                limit * 100.0
            );
            found = true;
        }
    }
    found
}
