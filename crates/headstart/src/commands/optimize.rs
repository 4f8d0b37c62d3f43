//! `headstart optimize`: make a program start faster, and prove it.

mod advice;
#[cfg(test)]
mod tests;

use crate::args::{CommandArgs, LaunchArgs, ScheduleArgs, one_command};
use crate::exit::{self, Usage};
use crate::output;
use crate::programs;
use crate::progress::StatusLine;
use anyhow::Result;
use model::optimization::OptimizationReport;
use model::{LaunchOptions, Until};
use optimize::trials::Selection;
use optimize::{Launchers, Optimization, OptimizeEvent, OptimizeRequest, Terms};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

const IGNORE: &str = "Accept a program that fails, if it always does so in the same way";

/// Make a program start faster: try everything that applies, verify, measure, leave the best
///
/// Every variant is a private copy; the program itself is not changed. A variant is accepted only
/// if it binds the same symbols to the same definitions, ends with the same status and writes the
/// same output as the original. CMD is launched many times: give it arguments with which it exits on
/// its own and does no harm. If CMD is a script, a wrapper or a driver, the programs that it starts are
/// tried, each in its place in the whole launch.
#[derive(Debug, clap::Args)]
#[command(mut_arg("ignore_failure", |arg| arg.value_name("all-non-zero").help(IGNORE)))]
pub struct Arguments {
    #[command(flatten)]
    launched: CommandArgs,
    /// Leave the best variant in this new folder; DIR/run starts it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Allow variants with a weakness: no-aslr has the same addresses at every launch
    #[arg(long, value_name = "WHAT", value_enum)]
    allow: Vec<Allow>,
    /// Try only these variants
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Do not try these variants
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    skip: Vec<String>,
    /// Your own test: a command that exits with 0 if the program named in HEADSTART_PROGRAM works;
    /// HEADSTART_VARIANT names the variant
    #[arg(long, value_name = "CMD")]
    check: Option<OsString>,
    /// Also measure cold launches, with an empty page cache: they decide between variants that are equally
    /// fast when warm. As root, also try bundles that read ahead
    #[arg(long)]
    cold: bool,
    #[command(flatten)]
    schedule: ScheduleArgs,
    #[command(flatten)]
    launching: LaunchArgs,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Weaknesses that a user may accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Allow {
    NoAslr,
}

/// Optimizes and prints.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    match optimized(arguments, &optimize::registry::ALL) {
        Ok(found) => {
            output::print_either(arguments.json, &found, |style| {
                report::optimize::view(&found, &programs::install_words(), style)
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if exit::is_interrupt(&error) => {
            output::tell("interrupted; nothing is left behind");
            Ok(ExitCode::from(exit::INTERRUPTED))
        }
        Err(error) => Err(error),
    }
}

fn optimized(arguments: &Arguments, all: &[Optimization]) -> Result<OptimizationReport> {
    let launchers = Launchers::start(arguments.cold)?;
    let request = arguments.request()?;
    let mut line = StatusLine::new();
    let mut observe = |event| match event {
        OptimizeEvent::Begins => {
            line.clear();
            line = StatusLine::new();
        }
        OptimizeEvent::Trial(step) => {
            line.show(step.at as f64 / step.of as f64, format!("{} {}", step.what, step.name));
        }
        OptimizeEvent::Launches(event) => line.observe(event),
    };
    let optimized = optimize::optimize(request, all, launchers, &mut observe)?;
    Ok(advice::advised(optimized, arguments.check.is_some()))
}

impl Arguments {
    fn request(&self) -> Result<OptimizeRequest> {
        let command = self.launched.command()?;
        let selection = self.selection()?;
        let options = self.launching.options();
        let terms = self.terms(&options)?;
        Ok(OptimizeRequest {
            command,
            selection,
            terms,
            warm: self.schedule.schedule(false),
            cold: self.cold.then(|| self.schedule.schedule(true)),
            options,
            out: self.out.clone(),
        })
    }

    fn selection(&self) -> Result<Selection> {
        if self.launching.until != Until::Exit {
            let text = "what a variant writes and how it ends is compared at its end: optimize \
                        takes --until exit alone; give the program arguments with which it ends";
            return Err(Usage(text.to_owned()).into());
        }
        let without_aslr = self.allow.contains(&Allow::NoAslr);
        Ok(Selection {
            only: self.only.clone(),
            skip: self.skip.clone(),
            without_aslr,
            for_cold: self.cold,
        })
    }

    fn terms(&self, options: &LaunchOptions) -> Result<Terms> {
        let check = self.check.as_ref().map(|line| one_command(std::slice::from_ref(line)));
        Ok(Terms {
            timeout: self.launching.timeout,
            ignore_failure: self.launching.ignores_all()?,
            cpu: options.cpu,
            check: check.transpose()?,
        })
    }
}
