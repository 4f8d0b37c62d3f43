//! The way of a script, or of another program that is not optimized itself: all is in what it starts.

use super::{Followed, Part, PartsRequest, follow, keep_parts, last_exec, parts, report};
use crate::choose::DEFAULT;
use crate::{
    Baseline, BuildFolders, Launches, Observed, Optimization, OptimizeError, OptimizeEvent,
    OptimizeRequest, Optimized, ResultFolder, Trial, VariantReason, baseline, registry, verify,
};
use model::Command;
use model::bundle::Inventory;
use model::optimization::{
    KeptPart, Manifest, OPTIMIZATION_SCHEMA, OptimizationReport, OriginalFile, ProgramReport,
    VariantFigures, VariantReport, VariantState,
};
use model::text::text;
use os::LaunchError;
use std::path::{Path, PathBuf};

/// A program that is launched for those that it starts, and where their variants are made.
pub(crate) struct Starter<'a> {
    /// What the user asked for.
    pub request: &'a OptimizeRequest,
    /// What is tried.
    pub optimizations: Vec<Optimization>,
    /// Where the result is left.
    pub folder: Option<ResultFolder>,
    /// Where variants are made.
    pub folders: BuildFolders,
    /// Why it is not optimized itself; none of a script.
    pub refused: Option<OptimizeError>,
}

impl Starter<'_> {
    /// Follows launches of it and tries what they start.
    pub fn optimize(
        mut self,
        mut launches: Launches,
        observer: &mut dyn FnMut(OptimizeEvent),
    ) -> Result<Optimized, OptimizeError> {
        let refused = self.refused.take();
        let (command, terms) = (&self.request.command, &self.request.terms);
        let path = path_of(command);
        let observed = match baseline::observed(command, &path, terms, &mut launches) {
            Ok(observed) => observed,
            Err(error) if error.is_interrupt() => return Err(error),
            Err(error) => return Err(refused.unwrap_or(error)),
        };
        observer(OptimizeEvent::Begins);
        match (follow(command, terms, Some(observed[0].ending)), refused) {
            (Err(source @ LaunchError::Interrupted), _) => Err(source.into()),
            (Err(_), Some(refused)) => Err(refused),
            (Ok(followed), Some(refused)) if followed.programs.len() < 2 => Err(refused),
            (Err(source), None) => {
                let (program, last) = (path.display().to_string(), last_exec(&path));
                Err(OptimizeError::NotFollowed { program, source: Box::new(source), last })
            }
            (Ok(followed), _) => self.tried(&path, &observed, followed, observer),
        }
    }

    fn tried(
        self,
        path: &Path,
        observed: &[Observed; 2],
        followed: Followed,
        observer: &mut dyn FnMut(OptimizeEvent),
    ) -> Result<Optimized, OptimizeError> {
        let Starter { request, optimizations, folder, mut folders, .. } = self;
        let (command, terms) = (&request.command, &request.terms);
        let notes = followed.notes.clone();
        let checked = registry::checked(&optimizations);
        let asked = PartsRequest {
            request,
            command,
            observed,
            patience: verify::patience(observed, terms),
            optimizations: &checked,
            tried: None,
        };
        let parts = parts(&asked, followed, &mut folders, observer)?;
        let mut found = reported(request, path, &parts, notes);
        found.uncompared = uncompared(observed, terms.check.is_some());
        if let Some(mut folder) = folder {
            observer(OptimizeEvent::Begins);
            folder.start_program(path);
            let places = (&mut folder, &mut folders);
            let kept = keep_parts(&asked, command, &parts, places, observer)?;
            keep(folder, path, kept, &mut found.report)?;
        }
        Ok(found)
    }
}

fn path_of(command: &Command) -> PathBuf {
    os::program::lasting_path(&command.program).unwrap_or_else(|_| command.program.clone())
}

fn uncompared(observed: &[Observed; 2], tested: bool) -> Vec<&'static str> {
    verify::Expected::new(observed, tested).uncompared()
}

fn reported(
    request: &OptimizeRequest,
    path: &Path,
    parts: &[Part],
    notes: Vec<String>,
) -> Optimized {
    let (mut variants, mut reasons) = report::variants(parts);
    let measured = parts.iter().find(|part| part.unchanged.median_us.is_some());
    let unchanged = measured.map_or(VariantFigures::default(), |part| part.unchanged);
    variants.insert(0, default(unchanged));
    reasons.insert(0, None);
    let bests = parts.iter().filter_map(|part| Some((part, part.best()?)));
    let best = bests.min_by(|(_, (_, one)), (_, (_, other))| {
        let of = |figures: &VariantFigures| figures.ratio.unwrap_or(f64::INFINITY);
        of(one).total_cmp(&of(other))
    });
    let best = best
        .map_or(DEFAULT.to_owned(), |(part, (trial, _))| report::name(parts, part, trial.name()));
    let report = OptimizationReport {
        schema: OPTIMIZATION_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: request.command.line(),
        program: text(path),
        confidence: model::Rules::default().confidence,
        variants,
        best,
        out: None,
        programs: parts.iter().map(report::program).collect(),
        notes,
    };
    Optimized { report, reasons, uncompared: Vec::new(), scattered: Vec::new(), opened: None }
}

fn default(warm: VariantFigures) -> VariantReport {
    VariantReport {
        name: DEFAULT.to_owned(),
        program: None,
        keeps_aslr: true,
        verified: true,
        state: VariantState::Baseline,
        reason: None,
        warm,
        cold: None,
        checked_at_start: None,
        notes: Vec::new(),
    }
}

/// The programs of the launch of a program that is optimized itself.
pub(crate) struct Launched {
    parts: Vec<Part>,
    program: (PathBuf, PathBuf),
    notes: Vec<String>,
}

impl Launched {
    pub(crate) fn new(baseline: &Baseline, parts: Vec<Part>, notes: Vec<String>) -> Launched {
        let program = (baseline.program.path.clone(), baseline.program.file.clone());
        Launched { parts, program, notes }
    }

    /// The launch could not be followed.
    pub(crate) fn unfollowed(baseline: &Baseline) -> Launched {
        let note = "Which other programs the launch starts is not known: ptrace is not permitted.";
        Launched::new(baseline, Vec::new(), vec![note.to_owned()])
    }

    /// The programs that it starts.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Adds what was found to the report of the program itself, which has its `best` variant.
    pub(crate) fn add_to(
        &self,
        report: &mut OptimizationReport,
        reasons: &mut Vec<Option<VariantReason>>,
        best: Option<&Trial>,
    ) {
        let (path, file) = &self.program;
        let (variants, of_parts) = report::variants(&self.parts);
        let mut programs: Vec<ProgramReport> = self.parts.iter().map(report::program).collect();
        let own = programs.iter().position(|program| program.path == text(file));
        let mut itself = own.map_or_else(ProgramReport::default, |at| programs.remove(at));
        let figures = best.and_then(|best| report.variants.iter().find(|v| v.name == best.name()));
        let warm = figures.map_or_else(VariantFigures::default, |variant| variant.warm);
        itself.path = text(path);
        itself.best = best.map(|best| best.name().to_owned());
        (itself.ratio, itself.low, itself.high) = (warm.ratio, warm.low, warm.high);
        itself.reason = None;
        programs.insert(own.unwrap_or(0), itself);
        report.programs = programs;
        report.variants.extend(variants);
        reasons.extend(of_parts);
        report.notes.extend(self.notes.iter().cloned());
    }
}

/// Leaves what starts the script.
fn keep(
    folder: ResultFolder,
    path: &Path,
    parts: Vec<KeptPart>,
    report: &mut OptimizationReport,
) -> Result<(), OptimizeError> {
    let place = folder.folder().to_owned();
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let manifest = Manifest {
        schema: OPTIMIZATION_SCHEMA,
        headstart: report.headstart.clone(),
        variant: DEFAULT.to_owned(),
        starts: text(path),
        command: report.command.clone(),
        original: OriginalFile {
            path: text(path),
            file: text(&file),
            bytes: std::fs::metadata(&file).map_or(0, |data| data.len()),
            build_id: None,
        },
        figures: report.variants.clone(),
        replaced: Vec::new(),
        parts,
        notes: Vec::new(),
        undo: format!("remove this folder ({}); the original is unchanged", place.display()),
        kept: Inventory::default(),
    };
    folder.keep(&manifest)?;
    report.out = Some(text(&place));
    Ok(())
}
