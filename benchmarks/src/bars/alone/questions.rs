//! What a program answers, and whether it always does.

use crate::answers;
use anyhow::Result;
use model::{Command, Ending};
use optimize::{Launches, Observed};
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::workspace::SET_BY_CARGO;

pub const QUESTIONS: [&str; 2] = ["--version", "--help"];
/// What answers later answers nothing.
const PATIENCE: Duration = Duration::from_secs(10);
/// What has answered in that time is given more: beside other work it may be late.
const MORE_PATIENCE: Duration = Duration::from_secs(60);
/// Answers that have to be alike, where one of the changed program is another.
const AGAIN: usize = 10;

/// Asks the programs of one trial.
pub struct Asker {
    pub launches: Launches,
    /// Where they are started.
    pub directory: PathBuf,
}

/// A program and the name by which it is started.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub program: &'a Path,
    pub name: &'a Path,
}

impl Asker {
    /// The answer that two launches agree upon.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn steady(&mut self, asked: Asked<'_>, question: &str) -> Result<Option<Observed>> {
        let mut ask = || self.ask(asked, question, &[], PATIENCE);
        let (one, two) = (ask()?, ask()?);
        let answers = matches!(one.ending, Ending::Code(_)) && answers::exactly(&one, &two);
        Ok(answers.then_some(one))
    }

    /// One answer.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn once(&mut self, asked: Asked<'_>, question: &str) -> Result<Observed> {
        self.ask(asked, question, &[], MORE_PATIENCE)
    }

    /// Whether the answer is always this one: at other times, with another content of memory that
    /// is allocated, and with texts at other addresses. A program that reads what it has not
    /// written answers now so and now otherwise.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn is_certain(
        &mut self,
        asked: Asked<'_>,
        question: &str,
        answer: &Observed,
    ) -> Result<bool> {
        let long = "x".repeat(5000);
        let circumstances: [&[(&str, &str)]; 5] = [
            &[("MALLOC_PERTURB_", "85")],
            &[("MALLOC_PERTURB_", "170")],
            &[("MALLOC_TOP_PAD_", "1000000")],
            &[("MALLOC_MMAP_THRESHOLD_", "256")],
            &[("LONG", &long)],
        ];
        for environment in std::iter::repeat_n(&[][..], AGAIN).chain(circumstances) {
            let again = self.ask(asked, question, environment, MORE_PATIENCE)?;
            if !answers::exactly(answer, &again) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn ask(
        &mut self,
        asked: Asked<'_>,
        question: &str,
        environment: &[(&str, &str)],
        patience: Duration,
    ) -> Result<Observed> {
        // What cargo tells the loader would make bundles stale; one that is ends with 127, so that
        // no answer is the original's own.
        let mut variables = vec![
            (SET_BY_CARGO.to_owned(), None),
            ("HEADSTART_STALE".to_owned(), Some("never".into())),
        ];
        variables.extend(environment.iter().map(|(n, v)| ((*n).to_owned(), Some((*v).into()))));
        let command = Command {
            argv: vec![asked.name.into(), question.into()],
            program: asked.program.to_owned(),
            directory: Some(self.directory.clone()),
            environment: variables,
        };
        Ok(self.launches.observe(&command, patience)?)
    }
}
