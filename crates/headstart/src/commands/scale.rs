//! `headstart scale`: how the time of a launch grows with a size.

mod output;
mod subject;

pub use output::{draw, keep, print, printed};

use crate::args::{LaunchArgs, OldRun, SweepArgs};
use crate::exit::{self, Usage};
use crate::progress::StatusLine;
use anyhow::Result;
use lab::sweep::{SweepRequest, Swept};
use lab::{Keep, Series, Stop};
use model::Until;
use model::growth::Unit;
use os::launcher::Launcher;
use std::path::PathBuf;
use std::process::ExitCode;
use subject::{SubjectArgs, counted};

/// Find out how start-up time grows with a size, and by which law
///
/// All sizes are launched in turns, in a random order that changes every round. What grows is a
/// generated workload, a list of ready programs, or your own command, in which @N@ is replaced by
/// the size.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: SubjectArgs,
    #[cfg_attr(not(windows), doc = "Count work instead of measuring time")]
    #[cfg_attr(windows, doc = "Not available on Windows")]
    #[arg(long, value_name = "WHAT", help_heading = "How often", value_parser = counted())]
    #[arg(hide = cfg!(windows))]
    count: Option<Unit>,
    #[command(flatten)]
    sweep: SweepArgs,
    #[command(flatten)]
    launching: LaunchArgs,
    /// Keep the run, and what is generated, in this new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    #[command(flatten)]
    old: OldRun,
    /// Continue the run in this folder, which holds its sizes and how to launch them
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    #[arg(conflicts_with_all = ["workload", "command", "programs", "n", "no_zero", "count"])]
    #[arg(conflicts_with_all = ["dlls", "functions", "globals", "sources", "classes"])]
    #[arg(conflicts_with_all = ["seed", "save", "until", "timeout", "ignore_failure"])]
    #[arg(conflicts_with_all = ["cpu", "no_pin"])]
    resume: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Draw the points and the law into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    svg: Option<PathBuf>,
}

/// Launches or counts all sizes and prints the law.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launcher = Launcher::start()?;
    let line = StatusLine::new();
    let mut observer = |event| line.observe(event);
    let extent = arguments.sweep.extent();
    let swept = match &arguments.resume {
        Some(path) => lab::sweep::resume_sweep(launcher, path, &extent, &mut observer)?,
        None => lab::sweep::sweep(launcher, arguments.request()?, &mut observer)?,
    };
    conclude(swept, |swept| {
        if let Some(folder) = &arguments.svg {
            draw(&swept.scale, folder)?;
        }
        print(swept, arguments.json)
    })
}

impl Arguments {
    fn request(&self) -> Result<SweepRequest> {
        let (subject, sizes) = self.subject.subject()?;
        let unit = self.count.unwrap_or(Unit::Us);
        let options = self.launching.options();
        if unit != Unit::Us && options.until != Until::Exit {
            let text = "--count counts work until a program ends; omit --until";
            return Err(Usage(text.to_owned()).into());
        }
        Ok(SweepRequest {
            subject,
            unit,
            sizes,
            extent: self.sweep.extent(),
            seed: self.sweep.seed,
            options,
            keep: self.save.clone().map_or(Keep::ByDefault, Keep::In),
            keep_workloads: self.save.is_some(),
        })
    }
}

/// Has what a sweep found printed, where that is anything; gives the exit code, after why the sweep
/// ended early has been said on stderr.
pub fn conclude(mut swept: Swept, printing: impl FnOnce(&Swept) -> Result<()>) -> Result<ExitCode> {
    swept.scale.notes.splice(0..0, swept.unkept.iter().map(exit::unkept));
    let printed = if swept.scale.points.is_empty() { Ok(()) } else { printing(&swept) };
    let stop = swept.stop.map_err(anyhow::Error::from);
    let interrupted = match &stop {
        Ok(stop) => *stop == Stop::Interrupted,
        Err(error) => exit::is_interrupt(error),
    };
    if let Some(folder) = &swept.folder
        && (interrupted || stop.is_err())
    {
        crate::output::say_ended(interrupted, Some((Series::OfSizes, folder.path())));
    }
    if interrupted {
        printed?;
        return Ok(ExitCode::from(exit::INTERRUPTED));
    }
    stop?;
    printed?;
    Ok(ExitCode::SUCCESS)
}
