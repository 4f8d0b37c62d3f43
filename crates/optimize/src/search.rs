//! Which variants are tried, and what becomes of each.

use crate::choice::DEFAULT;
use crate::verify::{Flaw, Verifier};
use crate::{Built, Declined, NotBuilt, Optimisation, OptimizeError, Scratch, Subject};
use std::path::Path;

/// Which optimisations the user wants.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// These alone; all where there are none. The unmodified program, `default`, is always one.
    pub only: Vec<String>,
    /// But not these.
    pub skip: Vec<String>,
    /// Those too without which every launch has the same addresses.
    pub without_aslr: bool,
}

/// What became of a variant.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It does what the original does.
    Verified(Built),
    /// It was built, and does something else: why.
    Failed(String),
    /// It was not built, or nobody can tell what it does: why.
    Declined(String),
    /// It was not asked for: what would.
    NotTried(String),
}

/// A variant and what became of it.
#[derive(Clone)]
pub struct Trial {
    /// How it is made.
    pub optimisation: &'static dyn Optimisation,
    /// What became of it.
    pub outcome: Outcome,
}

impl Trial {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.optimisation.name()
    }

    /// The program, where it is verified.
    pub fn verified(&self) -> Option<&Built> {
        match &self.outcome {
            Outcome::Verified(built) => Some(built),
            _ => None,
        }
    }
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The variant's place among those that are tried.
    pub at: usize,
    /// How many are tried.
    pub of: usize,
    /// Its name.
    pub name: &'static str,
    /// `building` or `verifying`.
    pub what: &'static str,
}

impl Choice {
    /// Those of `all` that are wanted, in their order.
    ///
    /// # Errors
    /// A name that none of them has.
    pub fn of(
        &self,
        all: Vec<&'static dyn Optimisation>,
    ) -> Result<Vec<&'static dyn Optimisation>, String> {
        let known = |name: &&String| {
            *name == DEFAULT || all.iter().any(|optimisation| optimisation.name() == **name)
        };
        if let Some(unknown) = self.only.iter().chain(&self.skip).find(|name| !known(name)) {
            let names = [DEFAULT].into_iter().chain(all.iter().map(|one| one.name()));
            let names: Vec<&str> = names.collect();
            return Err(format!(
                "there is no variant '{unknown}'; there are: {}",
                names.join(", ")
            ));
        }
        let has = |names: &[String], name: &str| names.iter().any(|wanted| wanted == name);
        let wanted = |optimisation: &&'static dyn Optimisation| {
            let name = optimisation.name();
            (self.only.is_empty() || has(&self.only, name)) && !has(&self.skip, name)
        };
        Ok(all.into_iter().filter(wanted).collect())
    }

    /// Why one that is wanted is not tried all the same.
    fn forbids(&self, optimisation: &dyn Optimisation) -> Option<String> {
        let fixed = !optimisation.keeps_aslr() && !self.without_aslr;
        fixed.then(|| {
            "every launch would have the same addresses, which helps attackers; allow it with \
             --allow no-aslr"
                .to_owned()
        })
    }
}

/// Builds and verifies each of `optimisations`.
///
/// # Errors
/// Nothing can be built or launched any more, or the user wants to stop.
pub fn trials(
    subject: &Subject,
    verifier: &mut Verifier<'_>,
    scratch: &mut Scratch,
    (choice, optimisations): (&Choice, &[&'static dyn Optimisation]),
    progress: &mut dyn FnMut(Step),
) -> Result<Vec<Trial>, OptimizeError> {
    let mut trials = Vec::new();
    for (at, &optimisation) in optimisations.iter().enumerate() {
        if let Some(reason) = choice.forbids(optimisation) {
            trials.push(Trial { optimisation, outcome: Outcome::NotTried(reason) });
            continue;
        }
        let mut step = |what| {
            progress(Step { at, of: optimisations.len(), name: optimisation.name(), what });
        };
        let folder = scratch.folder_for(optimisation.name())?;
        let outcome = attempt(subject, verifier, optimisation, &folder, &mut step)?;
        if !matches!(outcome, Outcome::Verified(_)) {
            // Whatever is left goes with the whole folder.
            let _ = std::fs::remove_dir_all(&folder);
        }
        trials.push(Trial { optimisation, outcome });
    }
    Ok(trials)
}

/// Builds and verifies one in `folder`.
pub(crate) fn attempt(
    subject: &Subject,
    verifier: &mut Verifier<'_>,
    optimisation: &dyn Optimisation,
    folder: &Path,
    step: &mut dyn FnMut(&'static str),
) -> Result<Outcome, OptimizeError> {
    stop_if_asked()?;
    if let Some(reason) = verifier.cannot_compare() {
        return Ok(Outcome::Declined(reason));
    }
    step("building");
    let built = match optimisation.build(&subject.program, folder) {
        Ok(built) => built,
        Err(NotBuilt::Declined(Declined(reason))) => return Ok(Outcome::Declined(reason)),
        Err(NotBuilt::Disk { path, source }) => return Err(OptimizeError::Disk { path, source }),
    };
    stop_if_asked()?;
    step("verifying");
    match verifier.verify(optimisation, &built, folder) {
        Ok(()) => Ok(Outcome::Verified(built)),
        Err(Flaw::Wrong(reason)) => Ok(Outcome::Failed(reason)),
        Err(Flaw::Unknown(reason)) => Ok(Outcome::Declined(reason)),
        Err(Flaw::Stop(error)) => Err(error),
    }
}

fn stop_if_asked() -> Result<(), OptimizeError> {
    match os::interrupt::requested() {
        true => Err(os::LaunchError::Interrupted.into()),
        false => Ok(()),
    }
}
