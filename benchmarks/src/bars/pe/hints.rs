//! Hints that headstart calls wrong, counted by pefile too.

use crate::report::Row;
use crate::subjects::pe_files::Set;
use anyhow::{Context, Result, ensure};
use model::PeFacts;
use std::path::Path;
use std::process::Command;

const SCRIPT: &str = include_str!("pefile_hints.py");

/// Hints of a set that could be checked, and wrong ones, by both.
pub fn compare(python: &Path, set: &Set, images: &[PeFacts]) -> Result<Row> {
    let output = Command::new(python).args(["-c", SCRIPT]).args(&set.files).output();
    let output = output.with_context(|| format!("{} cannot be run", python.display()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "pefile failed: {stderr}");
    let theirs: (u64, u64) = serde_json::from_slice(&output.stdout)?;
    let checked = images.iter().map(|image| image.hints_checked).sum();
    let wrong = images.iter().filter_map(|image| image.wrong_hints).sum();
    let words = |(checked, wrong): (u64, u64)| format!("{wrong} of {checked} wrong");
    let row = Row::bar("  its hints", words((checked, wrong)), "=", theirs == (checked, wrong));
    Ok(row.beside(words(theirs)))
}
