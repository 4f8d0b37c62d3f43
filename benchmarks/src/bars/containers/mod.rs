//! Bundles in images: made in one root, used in layers, copies and read-only file systems made of it, and what
//! becomes of them when packages come, go, or are upgraded.
//!
//! The root is made by debootstrap once, below the target folder, and copied for each run. All mounts are in a
//! namespace of the check's own, and end with it.

mod bundles;
mod foreign;
mod looks;
mod places;
mod root;
mod store;
mod upgrade;

use crate::bars::namespace;
use crate::context::Context;
use crate::report::{Report, Row};
use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;
use std::process::Command;

/// The word with which this program starts itself in a mount namespace of its own.
pub const COMMAND: &str = "container-bars";
/// Chooses some of the parts, by their names with commas between them.
const PARTS_VARIABLE: &str = "CHECK_PARTS";

type Rows = fn(&Bench) -> Result<Vec<Row>>;

const PARTS: [(&str, Rows); 5] = [
    ("places", places::rows),
    ("looks", looks::rows),
    ("upgrade", upgrade::rows),
    ("foreign", foreign::rows),
    ("store", store::rows),
];

/// What the parts work with.
struct Bench {
    context: Context,
    /// Holds roots that are kept between runs.
    kept: PathBuf,
    /// A folder on the same file system that is removed afterwards.
    work: PathBuf,
}

/// All parts. What cannot be tried is a row that fails.
///
/// # Errors
/// Nothing can be mounted: only root can.
pub fn check(context: &Context) -> Result<Report> {
    namespace::report(context, COMMAND, "container-rows.json")
}

/// The parts, in the namespace: scratch folder, headstart, file for the rows.
///
/// # Errors
/// As [`check`].
pub fn run(words: &[&str]) -> Result<bool> {
    let (context, out) = namespace::entered(COMMAND, words)?;
    let built = testkit::workspace::built_headstart()?;
    let target = built.ancestors().nth(2).context("headstart is not in a target folder")?;
    let kept = target.join("roots");
    std::fs::create_dir_all(&kept)?;
    // On the file system of the kept roots, and mounts in it are gone with the namespace.
    let work = tempfile::Builder::new().prefix("containers-").tempdir_in(&kept)?;
    let bench = Bench { context, kept, work: work.path().to_owned() };
    let mut rows = Vec::new();
    for (name, part) in parts()? {
        match part(&bench) {
            Ok(found) => rows.extend(found),
            Err(error) => rows.push(Row::bar(name, format!("{error:#}"), "tried", false)),
        }
    }
    std::fs::write(out, serde_json::to_string(&rows)?)?;
    root::leave(work.path());
    Ok(true)
}

fn parts() -> Result<Vec<(&'static str, Rows)>> {
    let Ok(chosen) = std::env::var(PARTS_VARIABLE) else { return Ok(PARTS.to_vec()) };
    let names: Vec<&str> = chosen.split(',').collect();
    for name in &names {
        let is_known = PARTS.iter().any(|(known, _)| known == name);
        ensure!(is_known, "{PARTS_VARIABLE} names '{name}', which is no part of this check");
    }
    Ok(PARTS.into_iter().filter(|(name, _)| names.contains(name)).collect())
}

/// Runs a command that has to succeed.
///
/// # Errors
/// It cannot be run, or fails.
fn done(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}, {}: {said}", output.status);
    Ok(())
}
