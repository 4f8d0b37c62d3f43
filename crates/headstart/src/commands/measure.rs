//! `headstart measure`: how long a launch takes.

use crate::args::{MeasuredArgs, OutputArgs, ScheduleArgs, one_command};
use crate::{commands::jobs, run};
use anyhow::Result;
use model::Variant;
use os::launcher::Launcher;
use std::process::ExitCode;

/// Measure how long a program takes to start
///
/// The program is launched again and again by a small process of its own, without a shell, on
/// one quiet CPU. Every launch is kept as it is made: Ctrl-C prints what there is, --resume goes
/// on.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    #[arg(required_unless_present = "resume")]
    pub command: Vec<String>,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Measure throughput: this many launchers at once, against one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1024))]
    #[arg(help_heading = "How often")]
    #[arg(conflicts_with_all = ["precision", "budget", "warmup", "seed", "until", "cold", "prepare"])]
    #[arg(conflicts_with_all = ["realtime", "cpu", "show_output", "run", "resume", "csv", "markdown"])]
    #[arg(conflicts_with_all = ["ticks", "export", "export_hyperfine"])]
    pub jobs: Option<u32>,
    #[command(flatten)]
    pub launching: MeasuredArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Launches the program and prints its times.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
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
        words => {
            let command = one_command(words)?;
            Some(vec![Variant { name: command.argv[0].clone(), command }])
        }
    };
    let finished = run::run(launcher, variants, &arguments.schedule, &arguments.launching)?;
    finished.print(&arguments.output, |results, style| {
        // A resumed run may be a comparison.
        let several = results.variants.len() > 1;
        let view = if several { report::compare_view } else { report::measure_view };
        view(results, style)
    })?;
    finished.conclude(0)
}
