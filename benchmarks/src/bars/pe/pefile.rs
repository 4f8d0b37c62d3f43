//! What pefile, a reader in Python, says of PE files.

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use std::path::Path;
use std::process::Command;
use testkit::oracles::pe::Oracle;

const SCRIPT: &str = include_str!("pefile.py");
/// Files in one run of Python.
const BATCH: usize = 20;

/// Asks for every file, in order, with the limits that pefile sets itself.
pub fn read(python: &Path, paths: &[&str]) -> Result<Vec<Oracle>> {
    let batches = paths.par_chunks(BATCH).map(|paths| run(python, paths, false));
    let batches: Vec<Vec<Oracle>> = batches.collect::<Result<_>>()?;
    Ok(batches.concat())
}

/// Asks for one file, without those limits.
pub fn read_without_limits(python: &Path, path: &str) -> Result<Oracle> {
    run(python, &[path], true)?.pop().context("pefile gave nothing")
}

fn run(python: &Path, paths: &[&str], without_limits: bool) -> Result<Vec<Oracle>> {
    let limits = if without_limits { "unlimited" } else { "limited" };
    let output = Command::new(python).args(["-c", SCRIPT, limits]).args(paths).output();
    let output = output.with_context(|| format!("{} cannot be run", python.display()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "pefile failed: {stderr}");
    let answers: Vec<Oracle> = serde_json::from_slice(&output.stdout)?;
    ensure!(answers.len() == paths.len(), "pefile left files out");
    Ok(answers)
}
