//! The programs of a launch, each optimized and measured in the whole launch.

use super::bench::{figures_of, measured};
use super::launch::{Followed, FollowedProgram};
use super::scene::{Scene, Way};
use super::trial::{Subject, WholeLaunch};
use super::ways::ways;
use super::worth::why_not;
use crate::choose::{DEFAULT, VerifiedVariant, best};
use crate::trials::{BASELINE, TrialStep};
use crate::{
    BuildFolders, Observed, Optimization, OptimizeError, OptimizeEvent, OptimizeRequest, Program,
    Terms, Trial, TrialOutcome,
};
use loader::Environment;
use model::optimization::{ProgramReport, VariantFigures};
use model::{Command, VariantId, Verdict};
use os::LaunchError;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What programs of a launch are tried in.
pub(crate) struct PartsRequest<'a> {
    /// What the user asked for.
    pub request: &'a OptimizeRequest,
    /// The whole launch.
    pub command: &'a Command,
    /// What it did when it was made twice.
    pub observed: &'a [Observed; 2],
    /// It has to end within this time.
    pub patience: Duration,
    /// What is tried.
    pub optimizations: &'a [Optimization],
    /// The launched program, where it is tried by itself.
    pub tried: Option<&'a Path>,
}

/// A program of the launch and what became of it.
pub(crate) struct Part {
    /// The program.
    pub program: FollowedProgram,
    /// Why it was not tried.
    pub reason: Option<String>,
    /// How variants take its place.
    pub way: Option<Way>,
    /// Its variants.
    pub trials: Vec<Trial>,
    /// Figures of the whole launch with each of them.
    pub figures: Vec<VariantFigures>,
    /// Figures of the launch without any, made in the same manner.
    pub unchanged: VariantFigures,
    /// The place of the best of them.
    pub best: Option<usize>,
    /// The launches with the best, by folder and program.
    folders: Vec<PathBuf>,
}

impl Part {
    fn new(program: FollowedProgram, reason: Option<String>) -> Part {
        let (trials, figures, folders) = (Vec::new(), Vec::new(), Vec::new());
        let unchanged = VariantFigures::default();
        Part { program, reason, way: None, trials, figures, unchanged, best: None, folders }
    }

    /// The best of its variants, and the whole launch with it.
    pub(crate) fn best(&self) -> Option<(&Trial, VariantFigures)> {
        let index = self.best?;
        Some((self.trials.get(index)?, self.figures.get(index).copied()?))
    }
}

/// By so much shares of two launches differ even where they are small.
const TOLERANCE: f64 = 0.05;

/// On a busy machine the share of one launch may be as many times that of another.
const SHARES_DIFFER: f64 = 2.0;

/// The programs that a launch of `command` starts, without a trial: those worth one first, by the parts of
/// the launch that loading them takes, and without a reason.
///
/// # Errors
/// The launch cannot be followed, or the user wants to stop.
pub fn programs_of(command: &Command, terms: &Terms) -> Result<Vec<ProgramReport>, LaunchError> {
    let followed = super::follow(command, terms, None)?;
    let reasons = why_not(&followed.programs, None);
    let programs = followed.programs.into_iter().zip(reasons);
    let mut found: Vec<ProgramReport> = programs
        .map(|(program, reason)| {
            let untried = super::report::program(&Part::new(program, reason.clone()));
            ProgramReport { reason, ..untried }
        })
        .collect();
    let loading = |one: &ProgramReport| one.loading_share.unwrap_or(0.0);
    found.sort_by(|one, other| {
        let worth = one.reason.is_some().cmp(&other.reason.is_some());
        worth.then(loading(other).total_cmp(&loading(one)))
    });
    Ok(found)
}

/// Tries those of the programs that are worth it.
pub(crate) fn parts(
    asked: &PartsRequest<'_>,
    followed: Followed,
    folders: &mut BuildFolders,
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<Vec<Part>, OptimizeError> {
    let reasons = why_not(&followed.programs, asked.tried);
    let all = followed.programs.iter().zip(&reasons);
    let worth: Vec<&FollowedProgram> =
        all.filter(|(_, reason)| reason.is_none()).map(|(program, _)| program).collect();
    let terms = &asked.request.terms;
    let mut ways = match worth.is_empty() || asked.optimizations.is_empty() {
        true => Vec::new(),
        false => ways(asked.command, &worth, terms, &folders.folder_for("ways")?)?,
    }
    .into_iter();
    let permitted = os::place::permitted();
    let mut parts = Vec::new();
    for (program, reason) in followed.programs.iter().zip(reasons) {
        let mut part = Part::new(program.clone(), reason);
        if part.reason.is_none() {
            match (ways.next(), &permitted) {
                (None, _) => part.reason = Some("none of its variants was selected".to_owned()),
                (Some(Way::Mounted), Err(error)) => {
                    part.reason = Some(format!("it cannot be tried in its place: {error}"));
                }
                (Some(way), _) => tried(asked, &mut part, way, folders, observer)?,
            }
        }
        part.reason = part.reason.filter(|reason| !reason.is_empty());
        parts.push(part);
    }
    Ok(parts)
}

/// Builds, verifies and measures the variants of one program.
fn tried(
    asked: &PartsRequest<'_>,
    part: &mut Part,
    way: Way,
    folders: &mut BuildFolders,
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<(), OptimizeError> {
    let PartsRequest { request, command, observed, patience, .. } = *asked;
    let mut whole = WholeLaunch::new(command, observed, &request.terms, patience);
    let followed = part.program.clone();
    let subject = match subject(&followed, way, folders)? {
        Ok(subject) => subject,
        Err(reason) => {
            part.reason = Some(reason);
            return Ok(());
        }
    };
    part.way = Some(way);
    observer(OptimizeEvent::Begins);
    for (at, &optimization) in asked.optimizations.iter().enumerate() {
        let id = VariantId::at(at + 1);
        let folder = folders.folder_for(optimization.name)?;
        part.folders.push(folder.clone());
        let outcome = match request.selection.forbids(optimization) {
            Some(reason) => TrialOutcome::NotTried(reason),
            None => {
                let of = asked.optimizations.len();
                let mut step = |what| {
                    let step = TrialStep { at, of, name: optimization.name, what };
                    observer(OptimizeEvent::Trial(step));
                };
                whole.attempt(&subject, optimization, &folder, &mut step)?
            }
        };
        part.trials.push(Trial { id, optimization, outcome });
    }
    measure(asked, part, &whole, &subject, observer)?;
    let share = part.program.share;
    part.figures.iter_mut().filter(|figures| is_chance(figures, share)).for_each(|figures| {
        figures.verdict = Some(Verdict::Inconclusive);
    });
    let verified = part.trials.iter().zip(&part.figures);
    let verified = verified.filter(|(trial, _)| trial.verified().is_some());
    let candidates: Vec<VerifiedVariant> = verified
        .map(|(trial, &warm)| VerifiedVariant {
            id: trial.id,
            warm,
            cold: VariantFigures::default(),
            keeps_aslr: trial.optimization.keeps_aslr,
        })
        .collect();
    let best = best(&candidates);
    part.best = part.trials.iter().position(|trial| Some(trial.id) == best);
    Ok(())
}

/// Whether far more was gained than the program takes, which only other things on the machine can explain.
pub(super) fn is_chance(figures: &VariantFigures, share: f64) -> bool {
    figures.ratio.is_some_and(|ratio| 1.0 - ratio > SHARES_DIFFER * share + TOLERANCE)
}

/// Measures the whole launch with each variant that is verified. One that fails meanwhile is not.
fn measure(
    asked: &PartsRequest<'_>,
    part: &mut Part,
    whole: &WholeLaunch<'_>,
    subject: &Subject<'_>,
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<(), OptimizeError> {
    let expected = asked.observed[0].ending;
    loop {
        let unchanged = Scene::unchanged(asked.command, subject.way);
        let (mut ids, mut scenes) = (vec![BASELINE], vec![(DEFAULT.to_owned(), unchanged)]);
        for (trial, folder) in part.trials.iter().zip(&part.folders) {
            let Some(built) = trial.verified() else { continue };
            ids.push(trial.id);
            scenes.push((trial.name().to_owned(), whole.scene(subject, &built.run, folder)?));
        }
        if scenes.len() < 2 {
            part.figures = vec![VariantFigures::default(); part.trials.len()];
            return Ok(());
        }
        let failure = match measured(&scenes, asked.request, expected, observer)? {
            Ok(results) => {
                let figures = |trial: &Trial| match trial.verified() {
                    Some(_) => figures_of(&results, trial.name()),
                    None => VariantFigures::default(),
                };
                part.figures = part.trials.iter().map(figures).collect();
                part.unchanged = figures_of(&results, DEFAULT);
                return Ok(());
            }
            Err(failure) => failure,
        };
        let id = failure.variant.and_then(|variant| ids.get(variant.index()).copied());
        let Some(trial) = part.trials.iter_mut().find(|trial| Some(trial.id) == id) else {
            return Err(failure.error.into());
        };
        trial.outcome = TrialOutcome::Failed(format!("while it was measured, {failure}").into());
    }
}

/// The program as variants are made of it; or why none can be.
pub(super) fn subject<'a>(
    followed: &'a FollowedProgram,
    way: Way,
    folders: &mut BuildFolders,
) -> Result<Result<Subject<'a>, String>, OptimizeError> {
    let command = followed.command();
    let environment = Environment::of(&command);
    let path = followed.path.clone();
    let graph = match loader::load(&path, &environment) {
        Ok(graph) => graph,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let program = match way {
        Way::Mounted => {
            let file = folders.copy_of(&path)?;
            Program { path: file.clone(), file, told: Some(path), command }
        }
        _ => Program { file: path.clone(), path, told: None, command },
    };
    Ok(Ok(Subject { followed, way, program, environment, graph }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_far_beyond_the_share_is_chance() {
        let of = |ratio| VariantFigures { ratio: Some(ratio), ..VariantFigures::default() };
        assert!(is_chance(&of(0.81), 0.031));
        assert!(!is_chance(&of(0.97), 0.031));
        assert!(!is_chance(&of(0.55), 0.655));
        // Traced while other things kept the machine busy.
        assert!(!is_chance(&of(0.25), 0.6));
        assert!(!is_chance(&VariantFigures::default(), 0.5));
    }
}
