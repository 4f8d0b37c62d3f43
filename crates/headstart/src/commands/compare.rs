//! `headstart compare`: which of several commands starts faster.

use crate::args::{LineArgs, MeasuredArgs, OutputArgs, ScheduleArgs, fraction, variants};
use crate::measuring::{self, MeasuringArgs};
use crate::{exit, output};
use anyhow::Result;
use clap::{Args, Command, FromArgMatches};
use model::{Results, Verdict};
use os::launcher::Launcher;
use std::ffi::OsString;
use std::process::ExitCode;

/// Compare how fast commands start
///
/// Each command is one argument, such as 'git --version'. The baseline is the first command, or that
/// of --reference; a single command is measured. Commands are launched in turns, in a random order
/// that changes every round, so that other load on the machine affects all of them alike. A command
/// is called faster or slower only if the 99 % interval of the ratio shows it.
///
/// Options of hyperfine are accepted; docs/hyperfine.md lists what differs.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Commands, one argument each; leading words such as NAME=value set variables
    #[arg(required_unless_present = "resume", num_args = 1.., value_name = "CMD")]
    pub commands: Vec<OsString>,
    /// Exit with code 1 if a command is this much slower than the baseline, such as 5%
    #[arg(long, value_name = "X%", value_parser = fraction)]
    pub fail_if_slower: Option<f64>,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub launching: MeasuredArgs,
    #[command(flatten)]
    pub lines: LineArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The command line, read as one of `compare` though another verb was typed.
pub fn typed_as(verb: &'static str) -> Arguments {
    let command = Arguments::augment_args(Command::new(verb).bin_name(format!("headstart {verb}")));
    let words = std::env::args_os().skip(1);
    let matches = command.get_matches_from(words);
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Launches the commands in turns and prints their times and differences.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launcher = Launcher::start()?;
    let Arguments { schedule, launching, output: wanted, .. } = arguments;
    let variants = match arguments.commands.as_slice() {
        [] => None,
        lines => {
            let lines = variants(lines, &arguments.lines, &launching.around)?;
            output::say(&lines.notes, wanted.look.look());
            Some(lines.variants)
        }
    };
    let asked = MeasuringArgs { schedule, launching, output: wanted };
    let measured = measuring::measure(launcher, variants, asked)?;
    measuring::print(&measured.results, wanted)?;
    let too_slow = arguments.fail_if_slower.is_some_and(|limit| too_slow(&measured.results, limit));
    measuring::conclude(measured, if too_slow { exit::NO } else { 0 })
}

/// Says which commands are slower than the limit allows: only where a difference is proved.
fn too_slow(results: &Results, limit: f64) -> bool {
    let mut found = false;
    for effect in &results.effects {
        if effect.verdict == Verdict::Slower && effect.ratio >= 1.0 + limit {
            output::tell(format_args!(
                "{} is {:.1} % slower than {}, more than the {} % allowed",
                effect.variant,
                (effect.ratio - 1.0) * 100.0,
                effect.baseline,
                limit * 100.0
            ));
            found = true;
        }
    }
    found
}
