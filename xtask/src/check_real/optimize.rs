//! Programs do after `optimize` what they did before: every program of /usr/bin that answers
//! `--version` or `--help`, started from the folder that was left.

use super::Context;
use super::headstart::Headstart;
use super::report::{Report, Row};
use super::simulate::programs;
use anyhow::Result;
use model::optimization::{Optimization, VariantState};
use model::{Command, Ending};
use optimize::{Launches, Observed};
use os::launcher::Launcher;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

const QUESTIONS: [&str; 2] = ["--version", "--help"];
const PATIENCE: Duration = Duration::from_secs(5);
/// A program that never answers right is broken.
const TRIES: usize = 3;
/// Programs and reasons that are named.
const NAMED: usize = 10;

/// Optimises each, and compares.
///
/// # Errors
/// The folder cannot be read.
pub fn check(context: &Context) -> Result<Report> {
    let found = programs()?;
    let outcomes: Vec<(PathBuf, Outcome)> = found
        .par_iter()
        .enumerate()
        .map(|(at, path)| {
            let out = context.scratch.join(format!("optimised-{at}"));
            let outcome = optimised(&context.headstart, path, &out);
            // Room for the next; what is left goes with the scratch folder.
            let _ = std::fs::remove_dir_all(&out);
            let refused = |error: anyhow::Error| Outcome::Refused(last_line(&error, path));
            (path.clone(), outcome.unwrap_or_else(refused))
        })
        .collect();
    Ok(Report { rows: rows(&outcomes) })
}

enum Outcome {
    /// It answers no question, or now so and now otherwise.
    Silent,
    Refused(String),
    Tried {
        found: Box<Optimization>,
        /// A question that is answered otherwise from the folder.
        broken: Option<&'static str>,
    },
}

fn optimised(headstart: &Headstart, path: &Path, out: &Path) -> Result<Outcome> {
    let mut launches = Launches::new(Launcher::start()?, None)?;
    let mut ask = |program: &Path, question| {
        ask(&mut launches, program, (path, question), &headstart.scratch)
    };
    let mut answers: Vec<(&'static str, Observed)> = Vec::new();
    for question in QUESTIONS {
        let (one, two) = (ask(path, question)?, ask(path, question)?);
        if one.ending == Ending::Code(0) && same(&one, &two) {
            answers.push((question, one));
        }
    }
    let Some((first, _)) = answers.first() else { return Ok(Outcome::Silent) };
    let (program, folder) = (path.display().to_string(), out.display().to_string());
    let options = ["optimize", "--json", "--allow", "no-aslr", "--runs", "10", "--timeout", "10s"];
    let words = [&options[..], &["--out", &folder, "--", &program, first]].concat();
    let found: Optimization = headstart.json(&words)?;
    let mut broken = None;
    for (question, before) in &answers {
        // An answer that comes too late on a busy machine is asked for again.
        let mut right = false;
        for _ in 0..TRIES {
            right |= same(before, &ask(&out.join("run"), question)?);
        }
        if !right {
            broken = Some(*question);
        }
    }
    Ok(Outcome::Tried { found: Box::new(found), broken })
}

/// Starts `program` in `folder` by the name of `named`.
fn ask(
    launches: &mut Launches,
    program: &Path,
    (named, question): (&Path, &str),
    folder: &Path,
) -> Result<Observed> {
    let command = Command {
        argv: vec![named.display().to_string(), question.to_owned()],
        program: program.to_owned(),
        directory: Some(folder.to_owned()),
        environment: Vec::new(),
    };
    Ok(launches.observe(&command, PATIENCE)?)
}

fn same(one: &Observed, two: &Observed) -> bool {
    one.ending == two.ending && one.stdout == two.stdout && one.stderr == two.stderr
}

fn last_line(error: &anyhow::Error, path: &Path) -> String {
    let text = format!("{error:#}").replace(&path.display().to_string(), "it");
    let said = text.rsplit("headstart: ").next().unwrap_or("").trim();
    said.lines().next().unwrap_or("").chars().take(70).collect()
}

fn rows(outcomes: &[(PathBuf, Outcome)]) -> Vec<Row> {
    let (mut tried, mut optimised, mut silent) = (0, 0, 0);
    let mut broken = Vec::new();
    let mut refused = BTreeMap::<&str, usize>::new();
    let mut states = BTreeMap::<(String, &str), usize>::new();
    let mut reasons = BTreeMap::<String, usize>::new();
    for (path, outcome) in outcomes {
        match outcome {
            Outcome::Silent => silent += 1,
            Outcome::Refused(why) => *refused.entry(why).or_default() += 1,
            Outcome::Tried { found, broken: how } => {
                tried += 1;
                optimised += usize::from(found.best != found.variants[0].name);
                let how = how.map(|how| format!("{} {how} after {}", path.display(), found.best));
                broken.extend(how);
                for variant in &found.variants[1..] {
                    let key = (variant.name.clone(), word(variant.state));
                    *states.entry(key).or_default() += 1;
                    if let (VariantState::Failed, Some(reason)) = (variant.state, &variant.reason) {
                        let reason: String =
                            reason.lines().next().unwrap_or("").chars().take(70).collect();
                        let text = format!("{} of {}: {reason}", variant.name, path.display());
                        *reasons.entry(text).or_default() += 1;
                    }
                }
            }
        }
    }
    let good = broken.is_empty() && tried > 0;
    let mut rows = vec![
        Row::bar("programs broken", broken.len().to_string(), "0", good),
        Row::shown("programs tried", tried.to_string()),
        Row::shown("programs optimised: a variant is the best", optimised.to_string()),
        Row::shown("programs that answer nothing, or now so and now otherwise", silent.to_string()),
    ];
    rows.extend(broken.into_iter().take(NAMED).map(|text| Row::shown(text, "broken".to_owned())));
    let shown = |(text, count): (String, usize)| Row::shown(text, count.to_string());
    let states =
        states.into_iter().map(|((name, state), count)| (format!("{name} {state}"), count));
    rows.extend(states.map(shown));
    rows.extend(refused.into_iter().map(|(why, count)| shown((format!("refused: {why}"), count))));
    rows.extend(reasons.into_iter().take(NAMED * 4).map(shown));
    rows
}

fn word(state: VariantState) -> &'static str {
    match state {
        VariantState::Baseline => "original",
        VariantState::Verified => "verified",
        VariantState::Failed => "failed",
        VariantState::Declined => "declined",
        VariantState::NotTried => "not tried",
    }
}
