//! Each change to an ELF program by itself: every program of /usr/bin and /usr/sbin that is not
//! declined answers `--version` and `--help` as before.
//!
//! The variable CHECK_VERBS chooses among the changes: `CHECK_VERBS='bundle,elf relr'`.

mod ask;
mod table;
mod trial;

use super::Context;
use super::report::Report;
use super::simulate::programs;
use anyhow::{Result, ensure};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trial::{Outcome, Trial};

const FOLDERS: [&str; 2] = ["/usr/bin", "/usr/sbin"];
/// They end the machine or its processes if something goes wrong.
const NEVER_STARTED: [&str; 8] =
    ["killall5", "reboot", "halt", "shutdown", "poweroff", "init", "telinit", "runlevel"];
const CHOSEN: &str = "CHECK_VERBS";

/// A change, as it is asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
struct Verb {
    name: &'static str,
    words: &'static [&'static str],
    /// Where in the folder its result is to be started; the program's own name for a copy.
    run: Option<&'static str>,
    /// It tells the program that it is the original, so that answers are the original's own; a
    /// copy is held against an unchanged copy.
    is_told: bool,
}

const VERBS: [Verb; 6] = [
    Verb { name: "bundle", words: &["bundle"], run: Some("run"), is_told: true },
    Verb { name: "bundle --fixed", words: &["bundle", "--fixed"], run: Some("run"), is_told: true },
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
    let verbs = chosen(&std::env::var(CHOSEN).unwrap_or_default())?;
    let mut found = BTreeSet::new();
    for folder in FOLDERS {
        found.extend(programs(Path::new(folder))?);
    }
    found.retain(|path| !NEVER_STARTED.iter().any(|name| path.ends_with(name)));
    let found: Vec<PathBuf> = found.into_iter().collect();
    let cpus = os::host::allowed_cpus();
    let tried = found.par_iter().enumerate().map(|(at, path)| {
        let folder = context.scratch.join(format!("alone-{at}"));
        let thread = rayon::current_thread_index().unwrap_or(0);
        let cpu = cpus.get(thread % cpus.len().max(1)).copied().unwrap_or(0);
        let trial = Trial { headstart: &context.headstart, path, folder: &folder, cpu };
        let outcome = trial.outcome(&verbs);
        // Room for the next; what is left goes with the scratch folder.
        let _ = std::fs::remove_dir_all(&folder);
        (path.clone(), outcome.unwrap_or_else(|error| Outcome::Untried(format!("{error:#}"))))
    });
    let outcomes: Vec<(PathBuf, Outcome)> = tried.collect();
    Ok(Report { rows: table::rows(&outcomes, &verbs) })
}

/// Those that are named, or all.
fn chosen(names: &str) -> Result<Vec<&'static Verb>> {
    let names: Vec<&str> = names.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    let known: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    for name in &names {
        ensure!(known.contains(name), "{CHOSEN}: there is no '{name}' among {}", known.join(", "));
    }
    let wanted = |verb: &&Verb| names.is_empty() || names.contains(&verb.name);
    Ok(VERBS.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_chosen_by_name() {
        assert_eq!(chosen("").unwrap().len(), VERBS.len());
        let names: Vec<&str> =
            chosen("elf relr, bundle").unwrap().iter().map(|verb| verb.name).collect();
        assert_eq!(names, ["bundle", "elf relr"]);
        assert!(chosen("relr").unwrap_err().to_string().contains("elf relr"));
    }
}
