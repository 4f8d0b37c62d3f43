//! `headstart explain`: where the time of a launch goes.

mod words;

use crate::args::{CommandArgs, LaunchArgs};
use crate::exit::Usage;
use crate::progress::StatusLine;
use crate::{exit, output};
use anyhow::Result;
use explain::{ExplainRequest, Explained};
use model::Explanation;
use os::launcher::Launcher;
use std::path::PathBuf;
use std::process::ExitCode;

/// Explain where the time of a launch goes, and what would help
///
#[cfg_attr(
    not(windows),
    doc = "The program is launched about forty times: untraced, traced for its phases, and separately for each \
           further record, so that no record disturbs another."
)]
#[cfg_attr(
    windows,
    doc = "The program is launched about thirty times, with and without a debugger in turns. The debug events \
           tell when the process is created, when each DLL is loaded and initialized, and when the program \
           begins."
)]
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    launched: CommandArgs,
    #[cfg_attr(
        not(windows),
        doc = "Number of launches traced for the phases; the most typical one is shown"
    )]
    #[cfg_attr(
        windows,
        doc = "Number of launches under the debugger; times are their medians where they go the same way"
    )]
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
    #[arg(long, help_heading = "Output", hide = cfg!(windows))]
    hot: bool,
    /// List every module and process
    #[arg(long, help_heading = "Output")]
    all: bool,
}

/// Launches the program and prints the explanation.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.hot && cfg!(windows) {
        let words = "headstart for Windows does not sample functions: omit --hot, and profile the \
                     program with Windows Performance Recorder or Visual Studio";
        return Err(Usage(words.to_owned()).into());
    }
    os::interrupt::install();
    let launcher = Launcher::start()?;
    let request = ExplainRequest {
        command: arguments.launched.command()?,
        options: arguments.launching.options(),
        traces: arguments.runs,
        hot: arguments.hot,
        save: arguments.save.clone(),
        words: words::in_words,
    };
    let line = StatusLine::new();
    let explained = explain::explain_command(launcher, request, &mut |step| {
        line.show(f64::from(step.done) / f64::from(step.total), step.what.to_owned());
    });
    line.clear();
    let Explained { explanation, kept } = match explained {
        Err(error) if error.is_interrupt() => {
            output::say_ended(true, None);
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        explained => explained?,
    };
    print(arguments, &explanation)?;
    kept?;
    Ok(ExitCode::SUCCESS)
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
