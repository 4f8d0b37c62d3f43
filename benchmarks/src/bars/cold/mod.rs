//! The bars of cold starts: recordings, launches that are read ahead, and other tools that read ahead,
//! on this disk and on slower ones. docs/cold-lab.md describes the laboratory.

mod bed;
mod bundles;
mod page_cache;
mod peers;
mod recorder;
mod speed;
mod tasks;
mod warm;
mod ways;

use crate::bars::namespace;
use crate::context::Context;
use crate::report::{Report, Row};
use anyhow::{Result, ensure};
use bed::Bed;

/// The word with which this program starts itself in a mount namespace of its own.
pub const COMMAND: &str = "cold-bars";
/// Chooses some of the parts, by their names with commas between them.
const PARTS_VARIABLE: &str = "HEADSTART_COLD_PARTS";

type Rows = fn(&mut Bed) -> Result<Vec<Row>>;

const PARTS: [(&str, Rows); 6] = [
    ("recorder", recorder::rows),
    ("speed", speed::rows),
    ("work", speed::work_rows),
    ("peers", peers::rows),
    ("bundles", bundles::rows),
    ("warm", warm::rows),
];

/// All parts. What cannot be measured is a row that fails.
///
/// # Errors
/// The laboratory cannot be mounted: only root can.
pub fn check(context: &Context) -> Result<Report> {
    namespace::report(context, COMMAND, "cold-rows.json")
}

/// The parts, in the namespace: scratch folder, headstart, file for the rows.
///
/// # Errors
/// As [`check`].
pub fn run(words: &[&str]) -> Result<bool> {
    let (context, out) = namespace::entered(COMMAND, words)?;
    let parts = parts()?;
    let mut bed = Bed::make(&context)?;
    let mut rows = Vec::new();
    for (name, part) in parts {
        match part(&mut bed) {
            Ok(found) => rows.extend(found),
            Err(error) => rows.push(Row::bar(name, format!("{error:#}"), "measured", false)),
        }
    }
    std::fs::write(out, serde_json::to_string(&rows)?)?;
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
