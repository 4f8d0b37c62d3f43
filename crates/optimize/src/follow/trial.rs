//! One variant of one program, built and verified in the whole launch.

use super::FollowedProgram;
use super::launch::{starts_of, traced};
use super::scene::{Scene, Way};
use crate::baseline::check_command;
use crate::trials::{TrialSteps, built_by};
use crate::verify::{Expected, Flaw, Names, is_sound, wrong};
use crate::{
    BuildRemedy, Built, Observed, Optimization, OptimizeError, Program, Terms, TrialOutcome,
    VariantReason,
};
use loader::{Environment, Graph};
use model::{Command, Ending};
use os::LaunchError;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder in that of a variant with a link of the program's name.
const BY_NAME: &str = "by-name";

/// The whole launch, which variants of its programs are compared with.
pub(super) struct WholeLaunch<'a> {
    pub command: &'a Command,
    pub terms: &'a Terms,
    pub expected: Expected,
    /// A launch has to end within this time.
    pub patience: Duration,
}

/// A program of the launch, as variants are made of it.
pub(super) struct Subject<'a> {
    pub followed: &'a FollowedProgram,
    pub way: Way,
    pub program: Program,
    pub environment: Environment,
    pub graph: Graph,
}

impl WholeLaunch<'_> {
    pub fn new<'a>(
        command: &'a Command,
        observed: &[Observed; 2],
        terms: &'a Terms,
        patience: Duration,
    ) -> WholeLaunch<'a> {
        let expected = Expected::new(observed, terms.check.is_some());
        WholeLaunch { command, terms, expected, patience }
    }

    /// Builds a variant in `folder`, and verifies it; with the launch in which it is in place.
    pub fn attempt(
        &mut self,
        subject: &Subject<'_>,
        optimization: Optimization,
        folder: &Path,
        step: &mut TrialSteps<'_>,
    ) -> Result<TrialOutcome, OptimizeError> {
        if let Some(reason) = self.expected.cannot_compare() {
            return Ok(TrialOutcome::Declined(reason));
        }
        let built = match built_by(optimization.build, &subject.program, folder, step)? {
            Ok(built) => built,
            Err(declined) => return Ok(declined),
        };
        step("verifying");
        match self.verify(subject, optimization, &built, folder) {
            Ok(()) => Ok(TrialOutcome::Verified(built)),
            Err(Flaw::Wrong(reason)) => Ok(TrialOutcome::Failed(reason)),
            Err(Flaw::Unknown(reason)) => Ok(TrialOutcome::Declined(reason)),
            Err(Flaw::Stop(error)) => Err(error),
        }
    }

    fn verify(
        &mut self,
        subject: &Subject<'_>,
        optimization: Optimization,
        built: &Built,
        folder: &Path,
    ) -> Result<(), Flaw> {
        let Subject { environment, graph, program, .. } = subject;
        is_sound((environment, graph, &program.file), optimization, built, folder)?;
        let scene = self.scene(subject, &built.run, folder).map_err(Flaw::Stop)?;
        self.behaves(&scene)?;
        self.is_used(subject, built, &scene)?;
        self.passes(&scene, optimization.name)
    }

    /// The launch with the program `run` in the place of the original.
    pub fn scene(
        &self,
        subject: &Subject<'_>,
        run: &Path,
        folder: &Path,
    ) -> Result<Scene, OptimizeError> {
        let Some(variable) = subject.way.variable() else {
            return Ok(Scene::mounted(self.command, run, &subject.followed.path));
        };
        let by_name = folder.join(BY_NAME);
        let link = by_name.join(subject.followed.base_name());
        if link.symlink_metadata().is_err() {
            let made = fs::create_dir_all(&by_name).and_then(|()| symlink(run, &link));
            made.map_err(|error| {
                OptimizeError::unwritten(&link, error, BuildRemedy::AnotherTemporary)
            })?;
        }
        Ok(Scene::looked_up(self.command, variable, &by_name))
    }

    /// Whether a launch with several of them does what the original does.
    pub fn like_the_original(&mut self, scene: &Scene) -> Result<(), VariantReason> {
        match self.behaves(scene) {
            Ok(()) => Ok(()),
            Err(Flaw::Wrong(reason) | Flaw::Unknown(reason)) => Err(reason),
            Err(Flaw::Stop(error)) => Err(error.to_string().into()),
        }
    }

    /// The whole launch ends alike and writes the same, twice.
    fn behaves(&mut self, scene: &Scene) -> Result<(), Flaw> {
        let mut inside = scene.launches(self.terms.cpu).map_err(Flaw::Stop)?;
        for _ in 0..2 {
            let observed = inside.observe(&scene.command, self.patience)?;
            let names = Names::new(self.command, &scene.command);
            let (command, terms) = (self.command, self.terms);
            let mut again = || {
                let unchanged = Scene { command: command.clone(), place: None };
                let mut launches = unchanged.launches(terms.cpu).map_err(in_launcher)?;
                launches.observe(command, terms.timeout)
            };
            self.expected.compare(&observed, &names, &mut again)?;
        }
        Ok(())
    }

    /// The launch starts the variant, and not the original after it. Only root can follow a launch in
    /// which something is mounted.
    fn is_used(&self, subject: &Subject<'_>, built: &Built, scene: &Scene) -> Result<(), Flaw> {
        let launch = match traced(&scene.command, self.terms, scene.place.clone()) {
            Ok(launch) => launch,
            Err(LaunchError::NotPermitted { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let (variant, original) = match subject.way {
            Way::Mounted => (subject.followed.path.clone(), subject.program.file.clone()),
            _ => (real(&built.run), subject.followed.path.clone()),
        };
        if variant != original && starts_of(&launch, &original) > 0 {
            return Err(wrong("it started the original program instead"));
        }
        match starts_of(&launch, &variant) {
            0 => Err(wrong("the launch did not start it")),
            _ => Ok(()),
        }
    }

    /// The whole launch passes the user's own test.
    fn passes(&self, scene: &Scene, name: &str) -> Result<(), Flaw> {
        let Some(check) = &self.terms.check else { return Ok(()) };
        let mut check = check_command(check, &self.command.program, name);
        check.environment.extend(scene.command.environment.iter().cloned());
        let mut launches = scene.launches(self.terms.cpu).map_err(Flaw::Stop)?;
        let observed = launches.observe(&check, self.terms.timeout)?;
        match observed.ending {
            Ending::Code(0) => Ok(()),
            ending => {
                let (command, output) = (check.line(), observed.last_lines());
                Err(Flaw::Wrong(VariantReason::Test { command, ending, output }))
            }
        }
    }
}

fn in_launcher(error: OptimizeError) -> LaunchError {
    match error {
        OptimizeError::Launch(error) => error,
        _ => LaunchError::LauncherGone,
    }
}
