//! `headstart scale`: how the time of a launch grows with a size.

mod counted;
mod output;
mod place;
mod session;
mod subject;
mod timed;
mod workloads;

pub use output::{draw, keep, print, printed};
pub use session::{Session, plan, schedule};
pub use workloads::FILE_ALIGNMENT;

use crate::args::{LaunchArgs, OldRun, SweepArgs};
use crate::exit::{self, Usage};
use anyhow::Result;
use model::Until;
use model::growth::{Scale, Unit};
use os::launcher::Launcher;
use std::path::PathBuf;
use std::process::ExitCode;
use subject::{Counted, SubjectArgs};

/// Find out how start-up time grows with a size, and by which law
///
/// All sizes are launched in turns, in a random order that changes every round. What grows is a
/// generated workload, a list of ready programs, or your own command, in which @N@ is replaced by
/// the size.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Count work instead of measuring time
    #[arg(long, value_name = "WHAT", help_heading = "How often")]
    count: Option<Counted>,
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
    let session = match &arguments.resume {
        Some(path) => Session::resume(path, arguments.sweep.runs, arguments.sweep.budget)?,
        None => begin(arguments)?,
    };
    sweep(session, launcher, |session, scale| {
        if let Some(folder) = &arguments.svg {
            draw(scale, folder)?;
        }
        print(session, scale, arguments.json)
    })
}

fn begin(arguments: &Arguments) -> Result<Session> {
    let (subject, sizes) = arguments.subject.subject()?;
    let unit = arguments.count.map_or(Unit::Us, Unit::from);
    let options = arguments.launching.options();
    if unit != Unit::Us && options.until != Until::Exit {
        let text = "--count counts work until a program ends; omit --until";
        return Err(Usage(text.to_owned()).into());
    }
    let plan = plan(subject, unit, sizes, arguments.sweep.budget);
    let schedule = schedule(arguments.sweep.seed, arguments.sweep.runs);
    let run = arguments.save.as_deref();
    Session::begin(plan, schedule, options, run, run.is_some())
}

/// Makes the launches of a sweep; `printing` gets what they found, where that is anything.
pub fn sweep(
    mut session: Session,
    launcher: Launcher,
    printing: impl FnOnce(&Session, &Scale) -> Result<()>,
) -> Result<ExitCode> {
    let stop = match session.plan.unit {
        Unit::Us => timed::run(&mut session, launcher)
            .and_then(|stop| Ok(session.runner.check().map(|()| stop)?)),
        unit => {
            drop(launcher);
            counted::run(&mut session, unit)
        }
    };
    let interrupted = match &stop {
        Ok(stop) => *stop == lab::Stop::Interrupted,
        Err(error) => exit::is_interrupt(error),
    };
    let scale = output::scale(&session);
    let printed = if scale.points.is_empty() { Ok(()) } else { printing(&session, &scale) };
    let code = session.conclude(stop, interrupted)?;
    printed?;
    Ok(code)
}
