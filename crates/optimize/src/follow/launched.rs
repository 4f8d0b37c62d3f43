//! The way of a script: it is no image itself, so that all is in what it starts.

use super::{Part, PartsRequest, follow, keep_parts, last_exec, parts, report};
use crate::choose::DEFAULT;
use crate::{
    Baseline, BuildFolders, Launches, Observed, Optimization, OptimizeError, OptimizeEvent,
    OptimizeRequest, Optimized, ResultFolder, Trial, VariantReason, baseline, registry, verify,
};
use model::bundle::Inventory;
use model::optimization::{
    KeptPart, Manifest, OPTIMIZATION_SCHEMA, OptimizationReport, OriginalFile, ProgramReport,
    VariantFigures, VariantReport, VariantState,
};
use model::text::text;
use std::path::{Path, PathBuf};

/// A script that is launched, and where its variants are made.
pub(crate) struct Script<'a> {
    /// What the user asked for.
    pub request: &'a OptimizeRequest,
    /// What is tried.
    pub optimizations: Vec<Optimization>,
    /// Where the result is left.
    pub folder: Option<ResultFolder>,
    /// Where variants are made.
    pub folders: BuildFolders,
}

impl Script<'_> {
    /// Follows launches of it and tries what they start.
    pub fn optimize(
        self,
        mut launches: Launches,
        observer: &mut dyn FnMut(OptimizeEvent),
    ) -> Result<Optimized, OptimizeError> {
        let Script { request, optimizations, folder, mut folders } = self;
        let (command, terms) = (&request.command, &request.terms);
        let path = os::program::lasting_path(&command.program);
        let path = path.unwrap_or_else(|_| command.program.clone());
        let observed = baseline::observed(command, &path, terms, &mut launches)?;
        observer(OptimizeEvent::Begins);
        let followed = follow(command, terms).map_err(|source| match source {
            os::LaunchError::Interrupted => source.into(),
            source => {
                let (program, last) = (path.display().to_string(), last_exec(&path));
                OptimizeError::NotFollowed { program, source, last }
            }
        })?;
        let notes = followed.notes.clone();
        let checked = registry::checked(&optimizations);
        let asked = PartsRequest {
            request,
            command,
            observed: &observed,
            patience: verify::patience(&observed, terms),
            optimizations: &checked,
            tried: None,
        };
        let parts = parts(&asked, followed, &mut folders, observer)?;
        let mut found = reported(request, &path, &parts, notes);
        found.uncompared = uncompared(&observed, terms.check.is_some());
        if let Some(mut folder) = folder {
            observer(OptimizeEvent::Begins);
            folder.start_program(&path);
            let places = (&mut folder, &mut folders);
            let kept = keep_parts(&asked, command, &parts, places, observer)?;
            keep(folder, &path, kept, &mut found.report)?;
        }
        Ok(found)
    }
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
    Optimized { report, reasons, uncompared: Vec::new(), scattered: Vec::new() }
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
        let note = "What else the launch starts is not known: ptrace is not permitted.";
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
