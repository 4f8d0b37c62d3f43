//! The whole way of one program: its variants are built, verified and measured, and the best kept.

use crate::choose::{DEFAULT, VerifiedVariant, best};
use crate::follow::{Launched, PartsRequest, Starter, follow, is_script, keep_parts, parts};
use crate::measure::{Measurement, measure};
use crate::opened::opened;
use crate::scattered::scattered;
use crate::trials::{BASELINE, Selection, TrialStep, trials};
use crate::{
    Baseline, BuildFolders, Launches, Optimization, OptimizeError, ResultFolder, Terms, Trial,
    VariantReason, Verifier, keep, registry, report, verify,
};
use explain::LateLoading;
use lab::Event;
use model::bundle::Inventory;
use model::optimization::{Manifest, OPTIMIZATION_SCHEMA, OptimizationReport, VariantState};
use model::text::text;
use model::{CacheState, CalledModule, Command, LaunchOptions, Schedule, VariantId};
use os::LaunchError;
use os::launcher::Launcher;
use std::path::PathBuf;

/// What to optimize.
pub struct OptimizeRequest {
    /// The program, with arguments with which it ends by itself.
    pub command: Command,
    /// Which optimizations are tried.
    pub selection: Selection,
    /// How variants are verified.
    pub terms: Terms,
    /// How often to launch warm.
    pub warm: Schedule,
    /// How often to launch cold, where that is to be measured too.
    pub cold: Option<Schedule>,
    /// How measured launches are made.
    pub options: LaunchOptions,
    /// A new folder that the best variant is kept in.
    pub out: Option<PathBuf>,
}

/// What happens meanwhile, for whoever shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptimizeEvent {
    /// A stage of the work begins.
    Begins,
    /// A variant is being built or verified.
    Trial(TrialStep),
    /// Launches are measured.
    Launches(Event),
}

/// What became of a program and its variants.
#[derive(Debug)]
pub struct Optimized {
    /// What is told of it.
    pub report: OptimizationReport,
    /// Why each variant of the report is not offered, where it is not.
    pub reasons: Vec<Option<VariantReason>>,
    /// Streams whose content could not be compared: `stdout`, `stderr`.
    pub uncompared: Vec<&'static str>,
    /// Files that the user builds and whose start-up functions are scattered: what no variant mends.
    pub scattered: Vec<CalledModule>,
    /// Libraries that the program opens while it runs, which no variant merges.
    pub opened: Option<LateLoading>,
}

/// Launchers, each forked before anything large is in memory.
pub struct Launchers {
    verifying: Launcher,
    warm: Launcher,
    cold: Option<Launcher>,
}

impl Launchers {
    /// Starts them, one for cold launches only where these are made.
    ///
    /// # Errors
    /// The system has no room for another process.
    pub fn start(cold: bool) -> Result<Launchers, OptimizeError> {
        Ok(Launchers {
            verifying: Launcher::start()?,
            warm: Launcher::start()?,
            cold: cold.then(Launcher::start).transpose()?,
        })
    }
}

/// Tries those of `all` optimizations that are selected, and keeps the best.
///
/// # Errors
/// The program cannot be optimized, nothing can be written or launched, or the user wants to stop.
pub fn optimize(
    request: OptimizeRequest,
    all: &[Optimization],
    launchers: Launchers,
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<Optimized, OptimizeError> {
    let optimizations = request.selection.choose(all)?;
    let folder = request.out.as_deref().map(ResultFolder::claim).transpose()?;
    let folders = BuildFolders::new()?;
    if request.cold.is_some() {
        folders.refuse_memory()?;
    }
    let mut launches = Launches::new(launchers.verifying, request.terms.cpu)?;
    let baseline = match is_script(&request.command.program) {
        true => Err(None),
        false => {
            Baseline::new(request.command.clone(), &request.terms, &mut launches).map_err(Some)
        }
    };
    let baseline = match baseline {
        Ok(baseline) => baseline,
        // It may start others that can be.
        Err(refused @ (None | Some(OptimizeError::Graph(_)))) => {
            let starter = Starter { request: &request, optimizations, folder, folders, refused };
            return starter.optimize(launches, observer);
        }
        Err(Some(error)) => return Err(error),
    };
    let own = Own { request, optimizations, folder, folders, baseline };
    own.optimize(launches, (launchers.warm, launchers.cold), observer)
}

/// A program with variants of its own.
struct Own {
    request: OptimizeRequest,
    optimizations: Vec<Optimization>,
    folder: Option<ResultFolder>,
    folders: BuildFolders,
    baseline: Baseline,
}

impl Own {
    /// Tries its variants, and then the other programs that its launch starts.
    fn optimize(
        self,
        mut launches: Launches,
        (warm_launcher, cold_launcher): (Launcher, Option<Launcher>),
        observer: &mut dyn FnMut(OptimizeEvent),
    ) -> Result<Optimized, OptimizeError> {
        let Own { request, optimizations, folder, mut folders, baseline } = self;
        let mut verifier = Verifier::new(&baseline, &request.terms, &mut launches);
        let wanted = (&request.selection, optimizations.as_slice());
        observer(OptimizeEvent::Begins);
        let mut step = |step| observer(OptimizeEvent::Trial(step));
        let mut tried = trials(&baseline, &mut verifier, &mut folders, wanted, &mut step)?;
        let warm = (&request.warm, CacheState::Warm);
        let warm = measure(&request, warm, &baseline, &mut tried, warm_launcher, observer)?;
        let cold = match (&request.cold, cold_launcher) {
            (Some(schedule), Some(launcher)) => {
                let cold = (schedule, CacheState::ColdEvicted);
                Some(measure(&request, cold, &baseline, &mut tried, launcher, observer)?)
            }
            _ => None,
        };
        let best = best(&candidates(&tried, &warm, cold.as_ref())).unwrap_or(BASELINE);
        let best = tried.iter().find(|trial| trial.id == best);
        let mut report = reported(&baseline, &tried, best, (&warm, cold.as_ref()));
        let mut reasons: Vec<Option<VariantReason>> = vec![None];
        reasons.extend(tried.iter().map(|trial| trial.reason().cloned()));
        let uncompared = verifier.uncompared();
        let asked = PartsRequest {
            request: &request,
            command: &baseline.program.command,
            observed: &baseline.observed,
            patience: verify::patience(&baseline.observed, &request.terms),
            optimizations: &registry::checked(&optimizations),
            tried: Some(&baseline.program.file),
        };
        let found = programs(&asked, &baseline, &mut folders, observer)?;
        found.add_to(&mut report, &mut reasons, best);
        if let Some(folder) = folder {
            observer(OptimizeEvent::Begins);
            let others = (&asked, &found, &mut folders);
            keep_best(folder, &baseline, &mut verifier, best, &mut report, others, observer)?;
        }
        let scattered = scattered(&baseline, &request.terms)?;
        let opened = opened(&baseline, &request.terms)?;
        Ok(Optimized { report, reasons, uncompared, scattered, opened })
    }
}

fn reported(
    baseline: &Baseline,
    tried: &[Trial],
    best: Option<&Trial>,
    (warm, cold): (&Measurement, Option<&Measurement>),
) -> OptimizationReport {
    let mut notes = warm.notes.clone();
    let of_cold = cold.iter().flat_map(|cold| &cold.notes);
    notes.extend(of_cold.map(|note| format!("Cold: {note}")));
    OptimizationReport {
        schema: OPTIMIZATION_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: baseline.program.command.line(),
        program: text(&baseline.program.path),
        confidence: warm.confidence,
        variants: report::variants(baseline, tried, warm, cold),
        best: best.map_or(DEFAULT, Trial::name).to_owned(),
        out: None,
        programs: Vec::new(),
        notes,
    }
}

/// The other programs that the launch starts, each tried in it.
fn programs(
    asked: &PartsRequest<'_>,
    baseline: &Baseline,
    folders: &mut BuildFolders,
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<Launched, OptimizeError> {
    observer(OptimizeEvent::Begins);
    let expected = Some(asked.observed[0].ending);
    let followed = match follow(asked.command, &asked.request.terms, expected) {
        Err(LaunchError::NotPermitted { .. }) => return Ok(Launched::unfollowed(baseline)),
        followed => followed?,
    };
    let notes = followed.notes.clone();
    let parts = parts(asked, followed, folders, observer)?;
    Ok(Launched::new(baseline, parts, notes))
}

fn candidates(
    trials: &[Trial],
    warm: &Measurement,
    cold: Option<&Measurement>,
) -> Vec<VerifiedVariant> {
    let verified = trials.iter().filter(|trial| trial.verified().is_some());
    let candidate = |trial: &Trial| VerifiedVariant {
        id: trial.id,
        warm: warm.figures(trial.id),
        cold: cold.map(|cold| cold.figures(trial.id)).unwrap_or_default(),
        keeps_aslr: trial.optimization.keeps_aslr,
    };
    verified.map(candidate).collect()
}

/// Keeps the best in its folder: built and verified once more, where it is to stay.
fn keep_best(
    mut folder: ResultFolder,
    baseline: &Baseline,
    verifier: &mut Verifier<'_>,
    best: Option<&Trial>,
    report: &mut OptimizationReport,
    (asked, launched, folders): (&PartsRequest<'_>, &Launched, &mut BuildFolders),
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<(), OptimizeError> {
    let built = match best {
        Some(trial) => {
            let mut step = |what: &'static str| {
                let step = TrialStep { at: 1, of: 1, name: trial.name(), what };
                observer(OptimizeEvent::Trial(step));
            };
            Some(folder.build(baseline, verifier, trial.optimization, &mut step)?)
        }
        None => {
            folder.start_original(baseline);
            None
        }
    };
    let command = match &built {
        Some(built) => baseline.program.command_for(&built.run),
        None => baseline.program.command.clone(),
    };
    let parts = keep_parts(asked, &command, launched.parts(), (&mut folder, folders), observer)?;
    let path = folder.folder().to_owned();
    let starts = built.as_ref().and_then(|built| built.run.canonicalize().ok());
    let starts = starts.unwrap_or_else(|| baseline.program.path.clone());
    // The original is the first; the others are in the order of their trials.
    let best = best.map_or(BASELINE, |trial| trial.id);
    let figures = report.variants.iter().enumerate();
    let figures = figures.filter(|(index, variant)| {
        variant.state == VariantState::Baseline || VariantId::at(*index) == best
    });
    let replaced = built.as_ref().map_or(&[][..], |built| built.replaced.as_slice());
    let manifest = Manifest {
        schema: OPTIMIZATION_SCHEMA,
        headstart: report.headstart.clone(),
        variant: report.best.clone(),
        starts: text(&starts),
        command: report.command.clone(),
        original: keep::original(baseline),
        figures: figures.map(|(_, variant)| variant.clone()).collect(),
        replaced: replaced.iter().map(text).collect(),
        parts,
        notes: built.map(|built| built.notes).unwrap_or_default(),
        undo: format!("remove this folder ({}); the original is unchanged", path.display()),
        kept: Inventory::default(),
    };
    folder.keep(&manifest)?;
    report.out = Some(text(&path));
    Ok(())
}
