//! Whether a variant does what the original does, and nothing else: what a variant has to show
//! before it is measured. In this order, as each step relies on those before:
//!
//! 1. `structure`: its files are images that a loader can map, and all that they need is found;
//!    `hardening`: they are protected as the originals are.
//! 2. `references`: simulated, every reference binds to what it binds to in the original.
//! 3. `behavior`: it ends alike and writes the same.
//! 4. `loader_log`: the real loader binds as the simulated one.
//! 5. `mapped_files`: no file that it replaces is mapped.
//! 6. the user's own test.

mod behavior;
mod copies;
mod hardening;
mod loader_log;
mod mapped_files;
mod output_pattern;
mod references;
mod structure;

use crate::baseline::check_command;
use crate::{
    Baseline, BindingProof, Built, Launches, Observed, Optimization, OptimizeError, Terms,
    VariantReason,
};
pub(crate) use behavior::{Expected, Names};
use loader::{Environment, Graph};
use model::Ending;
use os::LaunchError;
use os::attend::AttendOptions;
use references::References;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a variant is not offered, or why all work ends.
#[derive(Debug)]
pub enum Flaw {
    /// The variant is wrong.
    Wrong(VariantReason),
    /// It cannot be told whether the variant is right.
    Unknown(VariantReason),
    /// Nothing can be verified any more.
    Stop(OptimizeError),
}

impl From<LaunchError> for Flaw {
    fn from(error: LaunchError) -> Flaw {
        match error.kind() {
            os::FailureKind::Program => wrong(error.to_string()),
            _ => Flaw::Stop(error.into()),
        }
    }
}

pub(crate) fn wrong(reason: impl Into<String>) -> Flaw {
    Flaw::Wrong(VariantReason::Found(reason.into()))
}

/// Holds variants against the original.
pub struct Verifier<'a> {
    baseline: &'a Baseline,
    terms: &'a Terms,
    launches: &'a mut Launches,
    expected: Expected,
    references: References,
    /// A variant has to end within this time.
    patience: Duration,
}

/// Variants may take this much longer than the original before they are taken to hang.
const SLOWER: f64 = 10.0;
const SLOWER_S: f64 = 10.0;

/// A variant whose files can be mapped and are protected as the originals are.
pub(crate) struct Sound {
    /// What the loader would do with it.
    graph: Graph,
    /// Its changed copies, and their originals.
    copies: Vec<(PathBuf, PathBuf)>,
}

/// Looks at the files of a variant, without a launch of it. Of the original: what the environment tells
/// the loader, what that does with it, and its file.
pub(crate) fn is_sound(
    (environment, of_original, program): (&Environment, &Graph, &Path),
    optimization: Optimization,
    built: &Built,
    folder: &Path,
) -> Result<Sound, Flaw> {
    let graph = structure::check(environment, built, folder)?;
    hardening::kept(program, &built.run, optimization.keeps_aslr)?;
    let copies = copies::find(built, folder, of_original, &graph);
    for (copy, original) in &copies {
        hardening::kept(original, copy, optimization.keeps_aslr)?;
    }
    Ok(Sound { graph, copies })
}

/// How long a variant may take.
pub(crate) fn patience(observed: &[Observed; 2], terms: &Terms) -> Duration {
    let slowest_us = observed.iter().map(|one| one.total_us).fold(0.0, f64::max);
    let patience = Duration::try_from_secs_f64(slowest_us / 1e6 * SLOWER + SLOWER_S);
    patience.unwrap_or(Duration::MAX).min(terms.timeout)
}

impl<'a> Verifier<'a> {
    /// A verifier of variants of `baseline`.
    pub fn new(
        baseline: &'a Baseline,
        terms: &'a Terms,
        launches: &'a mut Launches,
    ) -> Verifier<'a> {
        Verifier {
            expected: Expected::new(&baseline.observed, terms.check.is_some()),
            references: references::references(&baseline.graph, &copies::file),
            patience: patience(&baseline.observed, terms),
            baseline,
            terms,
            launches,
        }
    }

    /// Streams whose content differs from launch to launch of the original: `stdout`, `stderr`.
    pub fn uncompared(&self) -> Vec<&'static str> {
        self.expected.uncompared()
    }

    /// Why no variant can be shown to do what the original does, where that is so.
    pub(crate) fn cannot_compare(&self) -> Option<VariantReason> {
        self.expected.cannot_compare()
    }

    /// Verifies what `optimization` built in `folder`.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn verify(
        &mut self,
        optimization: Optimization,
        built: &Built,
        folder: &Path,
    ) -> Result<(), Flaw> {
        let program = &self.baseline.program.file;
        let original = (&self.baseline.environment, &self.baseline.graph, program.as_path());
        let Sound { graph, copies } = is_sound(original, optimization, built, folder)?;
        let original = copies::originals(copies, (&built.run, program));
        if built.bindings == BindingProof::Compared {
            let variant = references::references(&graph, &original);
            references::compare(&self.references, &variant)?;
        }
        let command = self.baseline.program.command_for(&built.run);
        self.behaves(&command)?;
        let options =
            AttendOptions { timeout: self.patience, cpu: self.terms.cpu, to_entry: false };
        loader_log::agrees(&graph, &command, &options)?;
        mapped_files::none_replaced(built, program, &command, &options)?;
        self.passes(optimization.name, &built.run)
    }

    /// Whether `run` ends alike and writes the same, whatever it is called.
    ///
    /// # Errors
    /// What it does otherwise.
    pub fn behaves_alike(&mut self, run: &Path) -> Result<(), Flaw> {
        self.behaves(&self.baseline.program.command_for(run))
    }

    /// It ends alike and writes the same, twice.
    fn behaves(&mut self, command: &model::Command) -> Result<(), Flaw> {
        for _ in 0..2 {
            let observed = self.launches.observe(command, self.patience)?;
            let (baseline, launches, timeout) =
                (self.baseline, &mut *self.launches, self.terms.timeout);
            let again = &mut || launches.observe(&baseline.program.command, timeout);
            let names = Names::new(&baseline.program.command, command);
            self.expected.compare(&observed, &names, again)?;
        }
        Ok(())
    }

    /// It passes the user's own test.
    fn passes(&mut self, name: &str, run: &Path) -> Result<(), Flaw> {
        let Some(check) = &self.terms.check else { return Ok(()) };
        let observed =
            self.launches.observe(&check_command(check, run, name), self.terms.timeout)?;
        let command = check.line();
        let reason = match (observed.ending, os::program::refusal(run)) {
            (Ending::Code(0), None) => return Ok(()),
            (Ending::Code(0), Some(reason)) => {
                VariantReason::AfterTest { command, problem: reason.to_string() }
            }
            (ending, _) => VariantReason::Test { command, ending, output: observed.last_lines() },
        };
        Err(Flaw::Wrong(reason))
    }
}
