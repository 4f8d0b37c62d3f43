//! `headstart inspect` against llvm-readobj and pefile on every PE file there is.

mod faults;
mod generated;
mod hints;
mod pefile;
#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::report::{Report, Row};
use crate::subjects::pe_files;
use anyhow::{Context as _, Result, ensure};
use model::{ImageFacts, PeFacts};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::oracles::Difference;
use testkit::oracles::pe::{Oracle, compare, readobj};

/// The sweep over all packages, with a table of what the oracles get wrong.
///
/// # Errors
/// A package cannot be downloaded, one of the programs cannot be run.
pub fn check(context: &Context) -> Result<Report> {
    let mut report = Report::default();
    let python = pe_files::python()?;
    let mut all = Tally::default();
    let made = context.scratch.join("made");
    let sets = [pe_files::all()?, vec![generated::all(&made)?]].concat();
    for set in sets {
        println!("{}: {} PE files in {}", set.name, set.files.len(), set.folder.display());
        let images = inspect(&context.headstart.program, &set.files)?;
        ensure!(images.len() == set.files.len(), "{}: files without facts", set.name);
        let tally = sweep(&images, Some(&python))?;
        report.rows.push(tally.row(&set.name));
        report.rows.push(hints::compare(&python, &set, &images)?);
        all.add(tally);
    }
    for (fault, files) in &all.faults {
        println!("oracle fault, {} files, such as {}: {fault}", files.len(), files[0]);
    }
    for difference in &all.differences {
        println!("{difference}");
    }
    let relocations = format!("relocations in {} files", all.files);
    report.rows.push(Row::shown(relocations, all.relocations.to_string()));
    let functions = format!("{} imports, {} exports", all.imports, all.exports);
    report.rows.push(Row::shown("functions", functions));
    let count = all.differences.len();
    report.rows.push(Row::bar("differences in all", count.to_string(), "0", count == 0));
    Ok(report)
}

/// What headstart prints of some files.
fn inspect(headstart: &Path, files: &[PathBuf]) -> Result<Vec<PeFacts>> {
    let mut command = Command::new(headstart);
    let output = command.args(["inspect", "--json"]).args(files).output();
    let output = output.with_context(|| format!("{} cannot be run", headstart.display()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "headstart inspect failed: {stderr}");
    let images: Vec<ImageFacts> = serde_json::from_slice(&output.stdout)?;
    let images = images.into_iter().filter_map(|image| match image {
        ImageFacts::Pe(facts) => Some(*facts),
        ImageFacts::Elf(_) => None,
    });
    Ok(images.collect())
}

/// Outcome of comparing some files.
#[derive(Debug, Default)]
struct Tally {
    files: usize,
    relocations: u64,
    imports: u64,
    exports: u64,
    /// What headstart and an oracle say differently, and no fault of the oracle explains.
    differences: Vec<Difference>,
    /// Files by the oracle's fault that was proved with them.
    faults: BTreeMap<String, Vec<String>>,
    /// Files in which headstart reports problems.
    problems: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.files += other.files;
        self.relocations += other.relocations;
        self.imports += other.imports;
        self.exports += other.exports;
        self.problems += other.problems;
        self.differences.extend(other.differences);
        for (fault, files) in other.faults {
            self.faults.entry(fault).or_default().extend(files);
        }
    }

    fn row(&self, name: &str) -> Row {
        let count = self.differences.len();
        let faulty: usize = self.faults.values().map(Vec::len).sum();
        let value = format!("{count} differences in {} files", self.files);
        let peer = format!("{faulty} oracle faults; {} files with problems", self.problems);
        Row::bar(name, value, "0", count == 0).beside(peer)
    }
}

/// Asks both oracles for every image, and compares; without a Python only llvm-readobj.
fn sweep(images: &[PeFacts], python: Option<&Path>) -> Result<Tally> {
    let mut tally = Tally { files: images.len(), ..Tally::default() };
    for image in images {
        tally.relocations += image.relocation_count();
        tally.imports += image.imports + image.delay_imports;
        tally.exports += image.exports;
        tally.problems += usize::from(!image.problems.is_empty());
    }
    let by_readobj: Vec<_> = images.par_iter().map(|image| readobj::read(&image.path)).collect();
    for (image, oracle) in images.iter().zip(by_readobj) {
        judge(image, &oracle?, None, &mut tally)?;
    }
    if let Some(python) = python {
        let paths: Vec<&str> = images.iter().map(|image| image.path.as_str()).collect();
        let answers = pefile::read(python, &paths)?;
        for (image, oracle) in images.iter().zip(&answers) {
            judge(image, oracle, Some(python), &mut tally)?;
        }
    }
    Ok(tally)
}

/// Differences, or the oracle's faults that explain them.
fn judge(image: &PeFacts, oracle: &Oracle, python: Option<&Path>, tally: &mut Tally) -> Result<()> {
    for difference in compare(image, oracle) {
        match faults::proved(image, &difference, python)? {
            Some(fault) => {
                tally.faults.entry(fault).or_default().push(image.path.clone());
            }
            None => tally.differences.push(difference),
        }
    }
    Ok(())
}
