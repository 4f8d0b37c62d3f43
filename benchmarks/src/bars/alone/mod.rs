//! Each change to an ELF program by itself: every program of /usr/bin and /usr/sbin that is not
//! declined answers `--version` and `--help` as before.
//!
//! The variable CHECK_VERBS chooses among the changes: `CHECK_VERBS='bundle,elf relr'`.

mod questions;
mod start;
mod table;
mod trial;

use crate::context::Context;
use crate::report::Report;
use crate::subjects::every_program::{self, Turn};
use anyhow::{Result, ensure};
use trial::{Outcome, Trial};

/// They end the machine or its processes if something goes wrong.
const NEVER_STARTED: [&str; 8] =
    ["killall5", "reboot", "halt", "shutdown", "poweroff", "init", "telinit", "runlevel"];
const CHOSEN: &str = "CHECK_VERBS";

/// A change, as it is asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Verb {
    pub name: &'static str,
    pub words: &'static [&'static str],
    /// Where in the folder its result is to be started; the program's own name for a copy.
    pub run: Option<&'static str>,
    /// It tells the program that it is the original, so that answers are the original's own; a
    /// copy may also answer as an unchanged copy does.
    pub is_told: bool,
}

impl Verb {
    /// A bundle, made with these words.
    pub const fn bundle(name: &'static str, words: &'static [&'static str]) -> Verb {
        Verb { name, words, run: Some("run"), is_told: true }
    }

    fn is_bundle(&self) -> bool {
        self.words.first() == Some(&"bundle")
    }
}

const VERBS: [Verb; 6] = [
    Verb::bundle("bundle", &["bundle"]),
    Verb::bundle("bundle --fixed", &["bundle", "--fixed"]),
    Verb { name: "elf selfbind", words: &["elf", "selfbind"], run: Some("run"), is_told: false },
    Verb { name: "elf order-needed", words: &["elf", "order-needed"], run: None, is_told: false },
    Verb { name: "elf no-pie", words: &["elf", "no-pie"], run: None, is_told: false },
    Verb { name: "elf relr", words: &["elf", "relr"], run: None, is_told: false },
];

/// Makes every change to every program, and compares.
///
/// # Errors
/// The folders cannot be read, or there is no change of a name that is asked for.
pub fn check(context: &Context) -> Result<Report> {
    sweep(context, &VERBS)
}

/// The same with other changes, or those of them that are chosen.
///
/// # Errors
/// As [`check`].
pub fn sweep(context: &Context, verbs: &'static [Verb]) -> Result<Report> {
    let verbs = chosen(&std::env::var(CHOSEN).unwrap_or_default(), verbs)?;
    let outcomes = every_program::each(context, &NEVER_STARTED, |&Turn { path, folder, cpu }| {
        let trial = Trial { headstart: &context.headstart, path, folder, cpu };
        let outcome = trial.outcome(&verbs);
        outcome.unwrap_or_else(|error| Outcome::Untried(format!("{error:#}")))
    })?;
    Ok(Report { rows: table::rows(&outcomes, &verbs) })
}

/// Those that are named, or all.
fn chosen(names: &str, verbs: &'static [Verb]) -> Result<Vec<&'static Verb>> {
    let names: Vec<&str> = names.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    let known: Vec<&str> = verbs.iter().map(|verb| verb.name).collect();
    for name in &names {
        ensure!(known.contains(name), "{CHOSEN}: there is no '{name}' among {}", known.join(", "));
    }
    let wanted = |verb: &&Verb| names.is_empty() || names.contains(&verb.name);
    Ok(verbs.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_chosen_by_name() {
        assert_eq!(chosen("", &VERBS).unwrap().len(), VERBS.len());
        let two = chosen("elf relr, bundle", &VERBS).unwrap();
        let names: Vec<&str> = two.iter().map(|verb| verb.name).collect();
        assert_eq!(names, ["bundle", "elf relr"]);
        assert!(chosen("relr", &VERBS).unwrap_err().to_string().contains("elf relr"));
    }
}
