//! `headstart measure`: how long a launch takes.

mod jobs;

use crate::args::{LineArgs, MeasuredArgs, OutputArgs, ScheduleArgs, one_command, words};
use crate::commands::compare;
use crate::measuring::{self, MeasuringArgs};
use anyhow::Result;
use lab::command_line::is_line;
use model::Variant;
use os::launcher::Launcher;
use std::ffi::OsString;
use std::process::ExitCode;

/// Measure how long a program takes to start
///
#[cfg_attr(
    not(windows),
    doc = "A small, pinned launcher starts the program again and again, without a shell, and times each \
           launch. Each launch is recorded as soon as it is made: after Ctrl-C the results so far are \
           printed, and --resume continues."
)]
#[cfg_attr(
    windows,
    doc = "The program is started again and again, on one CPU and without a shell, and each launch is \
           timed. Each launch is recorded as soon as it is made: after Ctrl-C the results so far are \
           printed, and --resume continues."
)]
///
/// The command is the program and its arguments. Where the first word is a whole command line in
/// quotation marks, every word is one, and they are compared as by 'headstart compare'.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    #[arg(required_unless_present = "resume")]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Measure throughput: this many launchers at once, against one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1024))]
    #[arg(help_heading = "How often")]
    #[arg(conflicts_with_all = ["precision", "budget", "warmup", "seed", "until", "cold"])]
    #[arg(conflicts_with_all = ["min_runs", "max_runs", "min_benchmarking_time"])]
    #[arg(conflicts_with_all = ["setup", "prepare", "conclude", "cleanup", "input", "output"])]
    #[arg(conflicts_with_all = ["realtime", "cpu", "show_output", "save", "resume", "csv"])]
    #[arg(conflicts_with_all = ["markdown", "ticks", "export", "export_json", "export_csv"])]
    #[arg(conflicts_with_all = ["export_markdown", "export_asciidoc", "export_orgmode"])]
    #[arg(conflicts_with_all = ["names", "reference", "parameter_list", "parameter_scan", "shell"])]
    pub jobs: Option<u32>,
    #[command(flatten)]
    pub launching: MeasuredArgs,
    #[command(flatten)]
    pub lines: LineArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Launches the program and prints its times.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.has_lines() {
        return compare::run(&compare::typed_as("measure"));
    }
    os::interrupt::install();
    if let Some(count) = arguments.jobs {
        return jobs::run(&jobs::Jobs {
            words: &arguments.command,
            count,
            launches: arguments.schedule.runs,
            launching: &arguments.launching.launch,
            json: arguments.output.json,
        });
    }
    let launcher = Launcher::start()?;
    let variants = match arguments.command.as_slice() {
        [] => None,
        typed => Some(vec![arguments.variant(typed)?]),
    };
    let Arguments { schedule, launching, output, .. } = arguments;
    let measured =
        measuring::measure(launcher, variants, MeasuringArgs { schedule, launching, output })?;
    measuring::print(&measured.results, output)?;
    measuring::conclude(measured, 0)
}

impl Arguments {
    /// Whether the words are command lines rather than one command.
    fn has_lines(&self) -> bool {
        let first = self.command.first();
        let lines = first.is_some_and(|word| is_line(word)) || self.lines.is_given();
        lines && first.is_some() && self.jobs.is_none()
    }

    fn variant(&self, typed: &[OsString]) -> Result<Variant> {
        let command = one_command(typed)?;
        words(Variant::new(command.name(), command), &self.lines, &self.launching.around)
    }
}
