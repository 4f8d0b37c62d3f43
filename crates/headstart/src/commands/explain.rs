//! `headstart explain`: where the time of a launch goes.

use crate::args::{CommandArgs, LaunchArgs};
use crate::{exit, output, progress};
use anyhow::Result;
use explain::{Inputs, RecordingPlan};
use lab::{Bench, LabError, RunFolder, Samples};
use model::{Experiment, Explanation, Sample, Variant};
use os::launcher::Launcher;
use std::path::PathBuf;
use std::process::ExitCode;

/// Explain where the time of a launch goes, and what would help
///
/// The program is launched about forty times: untraced, traced for its phases, and separately for
/// each further record, so that no record disturbs another.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    launched: CommandArgs,
    /// Number of launches traced for the phases; the most typical one is shown
    #[arg(short, long, value_name = "N", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    launching: LaunchArgs,
    /// Keep the run in this new folder: launches, records and the explanation
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Sample which functions take CPU time, and show the instructions of the hottest one
    ///
    /// Short programs are launched repeatedly until there are about 1000 samples or 5 s have
    /// passed.
    #[arg(long, help_heading = "Output")]
    hot: bool,
    /// List every module and process
    #[arg(long, help_heading = "Output")]
    all: bool,
}

/// Launches the program and prints the explanation.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launcher = Launcher::start()?;
    let experiment = experiment(arguments)?;
    let mut folder = match &arguments.save {
        Some(path) => Some(RunFolder::create(path, &experiment)?),
        None => None,
    };
    let gathered = gather(launcher, &experiment, arguments);
    let (inputs, samples) = match gathered {
        Ok(gathered) => gathered,
        Err(error) => {
            // Without its records a run explains nothing.
            folder.into_iter().for_each(RunFolder::discard);
            if !error.is_interrupt() {
                return Err(error.into());
            }
            output::say_ended(true, None);
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
    };
    let explanation = explain::explain(&inputs);
    print(arguments, &explanation)?;
    if let Some(folder) = &mut folder {
        for sample in &samples {
            folder.append(sample)?;
        }
        save(folder, &inputs, &explanation)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn experiment(arguments: &Arguments) -> Result<Experiment> {
    let command = arguments.launched.command()?;
    let variant = Variant::new(command.name(), command);
    let options = arguments.launching.options();
    Ok(lab::experiment(vec![variant], explain::schedule(arguments.runs), options))
}

fn gather(
    launcher: Launcher,
    experiment: &Experiment,
    arguments: &Arguments,
) -> Result<(Inputs, Vec<Sample>), LabError> {
    let line = progress::StatusLine::new();
    let mut bench = Bench::new(experiment, launcher, None)?;
    let plan = RecordingPlan { experiment, traces: arguments.runs, hot: arguments.hot };
    explain::gather(plan, &mut bench, &mut |step| {
        line.show(f64::from(step.done) / f64::from(step.total), step.what.to_owned());
    })
}

fn print(arguments: &Arguments, explanation: &Explanation) -> Result<()> {
    if arguments.json {
        return output::print(&report::export::json(explanation)?);
    }
    let style = output::style();
    let rows = if arguments.all { None } else { Some(report::explain::ROWS) };
    output::print(&report::explain::view(explanation, &style, rows))?;
    match &explanation.hot {
        Some(hot) => output::print(&report::hot::view(hot, &style, rows)),
        None => Ok(()),
    }
}

/// `inputs.json` holds all that was recorded: an explanation can be made from it again.
fn save(folder: &RunFolder, inputs: &Inputs, explanation: &Explanation) -> Result<()> {
    folder.write("explanation.json", report::export::json(explanation)?.as_bytes())?;
    folder.write("inputs.json", &serde_json::to_vec(inputs)?)?;
    Ok(())
}
