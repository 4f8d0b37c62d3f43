//! Which variants are tried, and what becomes of each.

use crate::choose::DEFAULT;
use crate::verify::{Flaw, Verifier};
use crate::{
    Baseline, BuildFolders, Built, NotBuilt, Optimization, OptimizeError, Program, VariantReason,
};
use model::VariantId;
use rewrite::Declined;
use std::path::Path;

/// Which optimizations the user wants.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// These alone; all where there are none. The unmodified program, `default`, is always one.
    pub only: Vec<String>,
    /// But not these.
    pub skip: Vec<String>,
    /// Those too without which every launch has the same addresses.
    pub without_aslr: bool,
    /// Those too that only cold launches gain from.
    pub for_cold: bool,
}

/// What became of a variant.
#[derive(Clone, Debug)]
pub enum TrialOutcome {
    /// It does what the original does.
    Verified(Built),
    /// It was built, and does something else: why.
    Failed(VariantReason),
    /// It was not built, or nobody can tell what it does: why.
    Declined(VariantReason),
    /// It is not allowed: why.
    NotTried(VariantReason),
}

/// The unmodified program among the variants.
pub(crate) const BASELINE: VariantId = VariantId(0);

/// A variant and what became of it.
#[derive(Clone)]
pub struct Trial {
    /// Variants are numbered as they are tried, after the unmodified program.
    pub id: VariantId,
    /// How it is made.
    pub optimization: Optimization,
    /// What became of it.
    pub outcome: TrialOutcome,
}

impl Trial {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.optimization.name
    }

    /// Why it is not offered, where it is not.
    pub fn reason(&self) -> Option<&VariantReason> {
        match &self.outcome {
            TrialOutcome::Verified(_) => None,
            TrialOutcome::Failed(reason)
            | TrialOutcome::Declined(reason)
            | TrialOutcome::NotTried(reason) => Some(reason),
        }
    }

    /// The program, where it is verified.
    pub fn verified(&self) -> Option<&Built> {
        match &self.outcome {
            TrialOutcome::Verified(built) => Some(built),
            _ => None,
        }
    }
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialStep {
    /// The variant's place among those that are tried.
    pub at: usize,
    /// How many are tried.
    pub of: usize,
    /// Its name.
    pub name: &'static str,
    /// `building` or `verifying`.
    pub what: &'static str,
}

impl Selection {
    /// Those of `all` that are wanted, in their order.
    ///
    /// # Errors
    /// A name that none of them has.
    pub fn choose(&self, all: &[Optimization]) -> Result<Vec<Optimization>, OptimizeError> {
        let known = |name: &&String| {
            *name == DEFAULT || all.iter().any(|optimization| optimization.name == **name)
        };
        if let Some(unknown) = self.only.iter().chain(&self.skip).find(|name| !known(name)) {
            let names = [DEFAULT].into_iter().chain(all.iter().map(|one| one.name));
            let names: Vec<&str> = names.collect();
            let (name, known) = (unknown.clone(), names.join(", "));
            return Err(OptimizeError::UnknownVariant { name, known });
        }
        let has = |names: &[String], name: &str| names.iter().any(|wanted| wanted == name);
        let wanted = |optimization: &&Optimization| {
            let name = optimization.name;
            (self.only.is_empty() || has(&self.only, name)) && !has(&self.skip, name)
        };
        Ok(all.iter().filter(wanted).copied().collect())
    }

    /// Why one that is wanted is not tried all the same.
    pub(crate) fn forbids(&self, optimization: Optimization) -> Option<VariantReason> {
        if !optimization.keeps_aslr && !self.without_aslr {
            return Some(VariantReason::SameAddresses);
        }
        (optimization.for_cold && !self.for_cold).then_some(VariantReason::OnlyCold)
    }
}

/// Builds and verifies each of `optimizations`.
///
/// # Errors
/// Nothing can be built or launched any more, or the user wants to stop.
pub fn trials(
    baseline: &Baseline,
    verifier: &mut Verifier<'_>,
    folders: &mut BuildFolders,
    (choice, optimizations): (&Selection, &[Optimization]),
    progress: &mut dyn FnMut(TrialStep),
) -> Result<Vec<Trial>, OptimizeError> {
    let mut trials = Vec::new();
    for (at, &optimization) in optimizations.iter().enumerate() {
        let id = VariantId::at(at + 1);
        if let Some(reason) = choice.forbids(optimization) {
            trials.push(Trial { id, optimization, outcome: TrialOutcome::NotTried(reason) });
            continue;
        }
        let mut step = |what| {
            progress(TrialStep { at, of: optimizations.len(), name: optimization.name, what });
        };
        let folder = folders.folder_for(optimization.name)?;
        let build = optimization.build;
        let outcome = attempt(baseline, verifier, optimization, build, &folder, &mut step)?;
        if !matches!(outcome, TrialOutcome::Verified(_)) {
            // Whatever is left goes with the whole folder.
            let _ = std::fs::remove_dir_all(&folder);
        }
        trials.push(Trial { id, optimization, outcome });
    }
    Ok(trials)
}

/// Builds and verifies one in `folder`, by a build of its own.
pub(crate) fn attempt(
    baseline: &Baseline,
    verifier: &mut Verifier<'_>,
    optimization: Optimization,
    build: &dyn Fn(&Program, &Path) -> Result<Built, NotBuilt>,
    folder: &Path,
    step: &mut dyn FnMut(&'static str),
) -> Result<TrialOutcome, OptimizeError> {
    if let Some(reason) = verifier.cannot_compare() {
        return Ok(TrialOutcome::Declined(reason));
    }
    let built = match built_by(build, &baseline.program, folder, step)? {
        Ok(built) => built,
        Err(declined) => return Ok(declined),
    };
    step("verifying");
    match verifier.verify(optimization, &built, folder) {
        Ok(()) => Ok(TrialOutcome::Verified(built)),
        Err(Flaw::Wrong(reason)) => Ok(TrialOutcome::Failed(reason)),
        Err(Flaw::Unknown(reason)) => Ok(TrialOutcome::Declined(reason)),
        Err(Flaw::Stop(error)) => Err(error),
    }
}

/// How far one trial is.
pub(crate) type TrialSteps<'a> = dyn FnMut(&'static str) + 'a;

/// What was built; or that it was declined.
pub(crate) fn built_by(
    build: &dyn Fn(&Program, &Path) -> Result<Built, NotBuilt>,
    program: &Program,
    folder: &Path,
    step: &mut TrialSteps<'_>,
) -> Result<Result<Built, TrialOutcome>, OptimizeError> {
    stop_if_asked()?;
    step("building");
    let built = match build(program, folder) {
        Ok(built) => Ok(built),
        Err(NotBuilt::Declined(Declined(reason))) => Err(TrialOutcome::Declined(reason.into())),
        Err(NotBuilt::Disk { path, source }) => return Err(OptimizeError::Disk { path, source }),
    };
    // It may be declined because its launch was ended.
    stop_if_asked()?;
    Ok(built)
}

fn stop_if_asked() -> Result<(), OptimizeError> {
    match os::interrupt::requested() {
        true => Err(os::LaunchError::Interrupted.into()),
        false => Ok(()),
    }
}
