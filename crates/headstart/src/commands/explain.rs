//! `headstart explain`: where the time of a launch goes.

use crate::args::{CommandArgs, LaunchArgs};
use crate::commands::bundle_again;
use crate::phrases::SAY_WHEN_READY;
use crate::progress::StatusLine;
use crate::{exit, output};
use anyhow::Result;
use explain::{ExplainAdvice, ExplainRequest, Explained};
use model::{Explanation, quoted, text};
use os::launcher::Launcher;
use std::path::{Path, PathBuf};
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
    let request = ExplainRequest {
        command: arguments.launched.command()?,
        options: arguments.launching.options(),
        traces: arguments.runs,
        hot: arguments.hot,
        save: arguments.save.clone(),
        words: in_words,
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

/// What can be done, as the end of a sentence.
fn in_words(advice: ExplainAdvice) -> String {
    match advice {
        ExplainAdvice::SayWhenReady => SAY_WHEN_READY.to_owned(),
        ExplainAdvice::CompareCold => {
            "compare headstart measure with headstart measure --cold".to_owned()
        }
        ExplainAdvice::CheckMachine => "headstart doctor says what keeps it busy".to_owned(),
        ExplainAdvice::Profile => "headstart explain --hot".to_owned(),
        ExplainAdvice::OrderProgram { command } => {
            format!("headstart order try --relink 'COMMAND with @ORDER@' -- {command}")
        }
        ExplainAdvice::OrderModule { command, module } => format!(
            "headstart trace --out start.trace -- {command}, then headstart order write --linker \
             lld --module {} start.trace",
            quoted(module)
        ),
        ExplainAdvice::VerifyBundle { folder } => {
            format!("headstart verify {} shows what has changed", quoted(folder))
        }
        ExplainAdvice::Rebase => "headstart pe rebase --auto --out DIR FILE…".to_owned(),
        ExplainAdvice::RepairHints => "headstart pe hints --out DIR FILE…".to_owned(),
        ExplainAdvice::Realign => {
            "headstart pe realign --file-alignment 4096 --out DIR FILE…".to_owned()
        }
        ExplainAdvice::RenewBundle { folder, program, fixed } => bundle_again::of_folder(
            Path::new(&text::name(&folder)),
            Path::new(&text::name(&program)),
            fixed,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_is_verified_where_it_is() {
        let folder = "/my bundles".to_owned();
        let verify = in_words(ExplainAdvice::VerifyBundle { folder });
        assert_eq!(verify, "headstart verify '/my bundles' shows what has changed");
    }
}
