//! Programs do after `optimize` what they did before: every program of /usr/bin and /usr/sbin
//! that answers `--version` or `--help`, started from the folder that was left.

mod table;

pub use table::{Kinds, kind, kinds};

use crate::answers::{self, Names};
use crate::context::Context;
use crate::headstart::Headstart;
use crate::report::Report;
use crate::subjects::every_program::{self, Turn};
use anyhow::Result;
use model::optimization::OptimizationReport;
use model::{Command, Ending};
use optimize::{Launches, Observed};
use os::launcher::Launcher;
use std::path::Path;
use std::time::Duration;
use testkit::workspace::SET_BY_CARGO;

const QUESTIONS: [&str; 2] = ["--version", "--help"];
/// It takes any argument for a signal, and sends it to every process of the machine.
const NEVER_STARTED: [&str; 1] = ["killall5"];
/// What answers later answers nothing.
const PATIENCE: Duration = Duration::from_secs(10);
/// What has answered in that time is given more: beside other work it may be late.
const MORE_PATIENCE: Duration = Duration::from_secs(60);
/// Answers of what was left; each has to be right.
const TRIES: usize = 3;
/// Answers of the original that have to be alike, where one of what was left is another.
const ORIGINALS: usize = 10;
/// As many rounds as a verdict needs, without which nothing is left but links to originals.
const ROUNDS: &str = "10";
/// Times do not matter here.
const BUDGET: &str = "6s";

/// Optimizes each, and compares.
///
/// # Errors
/// The folders cannot be read.
pub fn check(context: &Context) -> Result<Report> {
    let outcomes = every_program::each(context, &NEVER_STARTED, |&Turn { path, folder, cpu }| {
        let outcome = Trial { headstart: &context.headstart, path, out: folder, cpu }.outcome();
        outcome.unwrap_or_else(|error| Outcome::Refused(last_line(&error)))
    })?;
    Ok(Report { rows: table::rows(&outcomes) })
}

/// What became of a program.
enum Outcome {
    /// It answers no question, or now so and now otherwise.
    Silent,
    /// It is not optimized: why.
    Refused(String),
    Tried {
        found: Box<OptimizationReport>,
        /// What is answered otherwise from the folder, and how.
        broken: Option<String>,
    },
}

struct Trial<'a> {
    headstart: &'a Headstart,
    path: &'a Path,
    out: &'a Path,
    cpu: u32,
}

impl Trial<'_> {
    fn outcome(&self) -> Result<Outcome> {
        let mut launches = Launches::new(Launcher::start()?, Some(self.cpu))?;
        let mut answers: Vec<(&'static str, Observed)> = Vec::new();
        for question in QUESTIONS {
            let mut ask = || self.ask(&mut launches, (self.path, self.path), question, PATIENCE);
            let (one, two) = (ask()?, ask()?);
            if one.ending == Ending::Code(0) && answers::exactly(&one, &two) {
                answers.push((question, one));
            }
        }
        let Some((first, _)) = answers.first() else { return Ok(Outcome::Silent) };
        let (program, folder) = (self.path.display().to_string(), self.out.display().to_string());
        let cpu = self.cpu.to_string();
        let how = ["optimize", "--json", "--allow", "no-aslr", "--timeout", "60s", "--cpu", &cpu];
        let often = ["--runs", ROUNDS, "--warmup", "1", "--budget", BUDGET];
        let words = [&how[..], &often, &["--out", &folder, "--", &program, first]].concat();
        let found: OptimizationReport = self.headstart.json(&words)?;
        let mut broken = None;
        for (question, before) in &answers {
            broken = broken.or(self.broken(&mut launches, question, before)?);
        }
        Ok(Outcome::Tried { found: Box::new(found), broken })
    }

    /// How the answer of what was left differs: by the original's name, and by its own.
    fn broken(
        &self,
        launches: &mut Launches,
        question: &str,
        before: &Observed,
    ) -> Result<Option<String>> {
        let run = self.out.join("run");
        let names = Names::new(self.path, &run);
        for attempt in 0..2 * TRIES {
            let named = if attempt < TRIES { self.path } else { &run };
            let after = self.ask(launches, (&run, named), question, MORE_PATIENCE)?;
            let Some(difference) = names.difference(before, &after) else { continue };
            // Some answer otherwise some time later, as clocks do, or now and then, as those do
            // whose children write at once.
            let mut steady = true;
            for _ in 0..ORIGINALS {
                let again = self.ask(launches, (self.path, self.path), question, MORE_PATIENCE)?;
                steady &= answers::exactly(before, &again);
            }
            if steady {
                let called = if named == run { "as run" } else { "by its own name" };
                return Ok(Some(format!("{question}, called {called}: {difference}")));
            }
        }
        Ok(None)
    }

    /// Starts `program` by the name of `named`.
    fn ask(
        &self,
        launches: &mut Launches,
        (program, named): (&Path, &Path),
        question: &str,
        patience: Duration,
    ) -> Result<Observed> {
        let command = Command {
            argv: vec![named.into(), question.into()],
            program: program.to_owned(),
            directory: Some(self.headstart.scratch.clone()),
            // With it a bundle is stale, and the original would answer.
            environment: vec![(SET_BY_CARGO.to_owned(), None)],
        };
        Ok(launches.observe(&command, patience)?)
    }
}

/// What headstart said.
fn last_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let said = text.rsplit("headstart: ").next().unwrap_or_default().trim();
    said.lines().next().unwrap_or_default().to_owned()
}
