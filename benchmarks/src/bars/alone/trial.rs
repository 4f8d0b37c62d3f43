//! One program, and what becomes of it by each change.

use super::Verb;
use super::questions::{Asked, Asker, QUESTIONS};
use super::start;
use crate::answers::Names;
use crate::headstart::Headstart;
use anyhow::Result;
use optimize::{Launches, Observed};
use os::launcher::Launcher;
use std::path::{Path, PathBuf};

/// What became of a program.
pub enum Outcome {
    /// It answers no question, or now so and now otherwise.
    Silent,
    /// It could not be started at all: why.
    Untried(String),
    /// By each change.
    Tried(Vec<Became>),
}

/// What became of it by one change.
pub enum Became {
    /// All answers are as before.
    Same,
    /// Not changed, with the reason.
    Declined(String),
    /// Another answer, as the original itself gives at times.
    Unsteady(String),
    /// Another answer, or no result and no reason.
    Broken(String),
}

pub struct Trial<'a> {
    pub headstart: &'a Headstart,
    pub path: &'a Path,
    pub folder: &'a Path,
    pub cpu: u32,
}

/// Answers to the questions.
type Answers = Vec<(&'static str, Observed)>;

/// headstart declines with this exit code, and a sentence.
const DECLINED: i32 = 1;

impl Trial<'_> {
    /// # Errors
    /// The program cannot be started, or files cannot be written.
    pub fn outcome(&self, verbs: &[&Verb]) -> Result<Outcome> {
        let launches = Launches::new(Launcher::start()?, Some(self.cpu))?;
        let mut asker = Asker { launches, directory: self.headstart.scratch.clone() };
        let original = Asked { program: self.path, name: self.path };
        if self.answers(&mut asker, original)?.is_empty() {
            return Ok(Outcome::Silent);
        }
        let mut became = Vec::new();
        for verb in verbs {
            became.push(match self.changed(verb)? {
                Ok(run) => self.compared(&mut asker, original, &run, verb)?,
                Err(became) => became,
            });
            let _ = std::fs::remove_dir_all(self.folder.join("changed"));
        }
        Ok(Outcome::Tried(became))
    }

    fn answers(&self, asker: &mut Asker, asked: Asked<'_>) -> Result<Answers> {
        let mut answers = Vec::new();
        for question in QUESTIONS {
            answers.extend(asker.steady(asked, question)?.map(|answer| (question, answer)));
        }
        Ok(answers)
    }

    /// Makes the change: what to start, or why not.
    fn changed(&self, verb: &Verb) -> Result<Result<PathBuf, Became>> {
        let folder = self.folder.join("changed");
        let own = folder.join(self.path.file_name().unwrap_or_default());
        let out = if verb.run.is_some() { &folder } else { &own };
        if verb.run.is_none() {
            std::fs::create_dir_all(&folder)?;
        }
        let (out, program) = (out.display().to_string(), self.path.display().to_string());
        let words = [verb.words, &["--out", &out, &program]].concat();
        let output = self.headstart.output(&words)?;
        if output.status.success() {
            return Ok(Ok(verb.run.map_or(own, |run| folder.join(run))));
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = said.trim().trim_start_matches("headstart: ").to_owned();
        let declined = output.status.code() == Some(DECLINED);
        Ok(Err(match declined {
            true => Became::Declined(said),
            false => Became::Broken(format!("headstart, {}: {said}", output.status)),
        }))
    }

    /// What an unchanged copy answers where `run` leads: a program in another folder may look for
    /// its files there.
    fn of_copy(&self, asker: &mut Asker, run: &Path) -> Result<Answers> {
        let place = run.canonicalize()?;
        let (changed, aside) = (self.folder.join("changed"), self.folder.join("aside"));
        std::fs::rename(&changed, &aside)?;
        std::fs::create_dir_all(place.parent().unwrap_or(&changed))?;
        std::fs::copy(self.path, &place)?;
        let answers = self.answers(asker, Asked { program: &place, name: self.path })?;
        std::fs::remove_dir_all(&changed)?;
        std::fs::rename(&aside, &changed)?;
        Ok(answers)
    }

    /// Asks what was changed: it answers as the original, or as its unchanged copy.
    fn compared(
        &self,
        asker: &mut Asker,
        before: Asked<'_>,
        run: &Path,
        verb: &Verb,
    ) -> Result<Became> {
        let after = Asked { program: run, name: if verb.is_told { run } else { self.path } };
        let copied = if verb.is_told { Answers::new() } else { self.of_copy(asker, run)? };
        let (names, names_of_copy) = (Names::new(before.program, run), Names::new(run, run));
        let mut unsteady = None;
        for (question, answer) in self.answers(asker, before)? {
            let found = asker.once(after, question)?;
            let Some(difference) = names.difference(&answer, &found) else { continue };
            let mut of_copy = copied.iter().filter(|(asked, _)| *asked == question);
            if of_copy.any(|(_, answer)| names_of_copy.difference(answer, &found).is_none()) {
                continue;
            }
            let difference = format!("{question}: {difference}");
            if asker.is_certain(before, question, &answer)? {
                return Ok(Became::Broken(difference));
            }
            unsteady = Some(difference);
        }
        if let Some(disagreement) = self.disagreement(run, verb)? {
            return Ok(Became::Broken(disagreement));
        }
        Ok(unsteady.map_or(Became::Same, Became::Unsteady))
    }

    /// Where a start of a bundle, or `verify`, says that the bundle is not used.
    fn disagreement(&self, run: &Path, verb: &Verb) -> Result<Option<String>> {
        if !verb.is_bundle() {
            return Ok(None);
        }
        let told = start::told_at_start(run, &self.headstart.scratch)?;
        if !told.contains(start::USED) {
            return Ok(Some(format!("a start says: '{told}'")));
        }
        let verified = start::verified(self.headstart, run)?;
        Ok((!verified.used)
            .then(|| format!("verify says: {}", verified.reason.unwrap_or_default())))
    }
}
