//! `headstart optimize`: make a program start faster, and prove it.

mod figures;
mod measured;
#[cfg(test)]
mod tests;

use crate::args::{CommandArgs, LaunchArgs, ScheduleArgs, one_command};
use crate::exit::{self, Usage};
use crate::{output, progress};
use anyhow::Result;
use measured::{Asked, Measured};
use model::bundle::Kept;
use model::optimization::{Manifest, OPTIMIZATION_SCHEMA, OptimizationReport, VariantState};
use model::text::text;
use model::{LaunchOptions, Until};
use optimize::trials::{Selection, trials};
use optimize::{
    Baseline, BuildFolders, Launches, Optimization, ResultFolder, Terms, Trial, Verifier,
};
use os::launcher::Launcher;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

const IGNORE: &str = "Accept a program that fails, if it always does so in the same way";

/// Make a program start faster: try everything that applies, verify, measure, leave the best
///
/// Every variant is a private copy; the program itself is not changed. A variant is accepted only
/// if it binds the same symbols to the same definitions, ends with the same status and writes the
/// same output as the original. CMD is launched many times: give it arguments with which it ends by
/// itself and does no harm.
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
    /// Also measure cold launches, with an empty page cache
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

/// Optimises and prints.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    run_with(arguments, all())
}

/// Every optimization there is, in the order of the table.
fn all() -> Vec<&'static dyn Optimization> {
    optimize::registry::all()
}

/// Launchers, each forked before anything large is in memory.
struct Launchers {
    verifying: Launcher,
    warm: Launcher,
    cold: Option<Launcher>,
}

fn run_with(arguments: &Arguments, all: Vec<&'static dyn Optimization>) -> Result<ExitCode> {
    os::interrupt::install();
    let launchers = Launchers {
        verifying: Launcher::start()?,
        warm: Launcher::start()?,
        cold: arguments.cold.then(Launcher::start).transpose()?,
    };
    match optimized(arguments, all, launchers) {
        Ok(found) => {
            let text = if arguments.json {
                report::export::json(&found)?
            } else {
                report::optimize::view(&found, &output::style())
            };
            output::print(&text)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if exit::is_interrupt(&error) => {
            anstream::eprintln!("headstart: interrupted; nothing is left behind");
            Ok(ExitCode::from(exit::INTERRUPTED))
        }
        Err(error) => Err(error),
    }
}

fn optimized(
    arguments: &Arguments,
    all: Vec<&'static dyn Optimization>,
    launchers: Launchers,
) -> Result<OptimizationReport> {
    let command = arguments.launched.command()?;
    let choice = arguments.choice()?;
    let optimizations = choice.of(all).map_err(Usage)?;
    let options = arguments.launching.options();
    let terms = arguments.terms(&options)?;
    let place = arguments.out.as_deref().map(ResultFolder::claim).transpose()?;
    let mut folders = BuildFolders::new()?;
    if arguments.cold {
        refuse_memory(&folders)?;
    }
    let mut launches = Launches::new(launchers.verifying, terms.cpu)?;
    let baseline = Baseline::new(command, &terms, &mut launches)?;
    let mut verifier = Verifier::new(&baseline, &terms, &mut launches);
    let line = progress::Line::new();
    let wanted = (&choice, optimizations.as_slice());
    let mut found = trials(&baseline, &mut verifier, &mut folders, wanted, &mut |step| {
        let share = step.at as f64 / step.of as f64;
        line.show(share, format!("{} {}", step.what, step.name));
    })?;
    line.clear();
    let asked = Asked { schedule: &arguments.schedule, options: &options };
    let (warm, cold) = (launchers.warm, launchers.cold);
    let measured = measured::measure(asked, &baseline, &mut found, (warm, cold))?;
    let mut optimization = optimization(&baseline, &found, &measured, verifier.notes());
    if let Some(place) = place {
        leave(place, &baseline, &mut verifier, &found, &mut optimization)?;
    }
    Ok(optimization)
}

/// Variants in memory would stay there however often the cache is emptied.
fn refuse_memory(folders: &BuildFolders) -> Result<()> {
    let kind = os::host::file_system(folders.path()).unwrap_or_default();
    if kind != "tmpfs" && kind != "ramfs" {
        return Ok(());
    }
    let folder = folders.path().parent().unwrap_or(folders.path()).display();
    Err(Usage(format!(
        "{folder}, where variants are built, is in memory, so that none of them could start cold; \
         name a folder on a disk in TMPDIR"
    ))
    .into())
}

fn optimization(
    baseline: &Baseline,
    trials: &[Trial],
    measured: &Measured,
    notes: Vec<String>,
) -> OptimizationReport {
    let keeps = |name: &str| {
        let trial = trials.iter().find(|trial| trial.name() == name);
        trial.is_none_or(|trial| trial.optimization.keeps_aslr())
    };
    let verified =
        |name: &str| trials.iter().any(|trial| trial.name() == name && trial.verified().is_some());
    let effects = measured.warm.effects.iter();
    let effects: Vec<_> = effects.filter(|effect| verified(&effect.variant)).cloned().collect();
    let best = optimize::choose::best(&effects, &keeps).to_owned();
    let mut all = notes;
    all.extend(measured.notes());
    OptimizationReport {
        schema: OPTIMIZATION_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: baseline.command.line(),
        program: text(&baseline.program.path),
        confidence: measured.warm.rules.confidence,
        variants: figures::variants(baseline, trials, measured),
        best,
        out: None,
        notes: all,
    }
}

/// Leaves the best in its folder: built and verified once more, where it is to stay.
fn leave(
    mut place: ResultFolder,
    baseline: &Baseline,
    verifier: &mut Verifier<'_>,
    trials: &[Trial],
    found: &mut OptimizationReport,
) -> Result<()> {
    let best = trials.iter().find(|trial| trial.name() == found.best);
    let built = match best {
        Some(trial) => {
            let line = progress::Line::new();
            let mut step = |what: &'static str| line.show(1.0, format!("{what} {}", trial.name()));
            Some(place.build(baseline, verifier, trial.optimization, &mut step)?)
        }
        None => {
            place.start_original(baseline);
            None
        }
    };
    let folder = place.folder().to_owned();
    let starts = built.as_ref().and_then(|built| built.run.canonicalize().ok());
    let starts = starts.unwrap_or_else(|| baseline.program.path.clone());
    let figures = found.variants.iter();
    let figures = figures.filter(|v| v.state == VariantState::Baseline || v.name == found.best);
    let replaced = built.as_ref().map_or(&[][..], |built| built.replaced.as_slice());
    let manifest = Manifest {
        schema: OPTIMIZATION_SCHEMA,
        headstart: found.headstart.clone(),
        variant: found.best.clone(),
        starts: text(&starts),
        command: found.command.clone(),
        original: optimize::keep::original(baseline),
        figures: figures.cloned().collect(),
        replaced: replaced.iter().map(text).collect(),
        notes: built.map(|built| built.notes).unwrap_or_default(),
        undo: format!("remove this folder ({}); the original is unchanged", folder.display()),
        kept: Kept::default(),
    };
    place.keep(&manifest)?;
    found.out = Some(text(&folder));
    Ok(())
}

impl Arguments {
    fn choice(&self) -> Result<Selection> {
        if self.launching.until != Until::Exit {
            let text = "what a variant writes and how it ends is compared at its end: optimize \
                        takes --until exit alone; give the program arguments with which it ends";
            return Err(Usage(text.to_owned()).into());
        }
        let without_aslr = self.allow.contains(&Allow::NoAslr);
        Ok(Selection { only: self.only.clone(), skip: self.skip.clone(), without_aslr })
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
