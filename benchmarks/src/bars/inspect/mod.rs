//! `headstart inspect` against GNU readelf on every ELF file of some folders.

mod speed;

use crate::context::Context;
use crate::report::{Report, Row};
use anyhow::{Context as _, Result, ensure};
use model::ElfFacts;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use testkit::oracles::elf::{compare, readelf};
use testkit::oracles::{Difference, shortened};

/// A large image: chromium's main program, where Debian puts it.
const LARGE: &str = "/usr/lib/chromium/chromium";

/// Outcome of a sweep.
#[derive(Debug, Default)]
pub struct Sweep {
    /// Files compared.
    pub files: usize,
    /// Relocations in them, by readelf's count.
    pub relocations: u64,
    /// What headstart and readelf say differently.
    pub differences: Vec<Difference>,
    /// What readelf complained about, per file; its figures were compared all the same.
    pub complaints: Vec<(String, String)>,
    /// Files in which headstart found problems.
    pub problems: Vec<(String, String)>,
}

/// Compares the two on every ELF file below `roots`.
///
/// # Errors
/// One of the programs cannot be run, or headstart refuses a file.
pub fn sweep(headstart: &Path, roots: &[&str]) -> Result<Sweep> {
    let mut command = Command::new(headstart);
    let output = command.args(["inspect", "--json"]).args(roots).output();
    let output = output.with_context(|| format!("{} cannot be run", headstart.display()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "headstart inspect failed: {stderr}");
    let images: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout)?;
    // Wine's PE files are there too.
    let elf = images.into_iter().filter(|image| image["format"] == "elf");
    let images: Vec<ElfFacts> = elf.map(serde_json::from_value).collect::<Result<_, _>>()?;
    ensure!(!images.is_empty(), "no ELF file below {}", roots.join(", "));
    compare_all(&images)
}

/// Asks readelf for every image, in parallel, and compares.
pub fn compare_all(images: &[ElfFacts]) -> Result<Sweep> {
    let answers = images.par_iter().map(|image| readelf::read(Path::new(&image.path)));
    let answers: Vec<_> = answers.collect::<Result<_>>()?;
    let mut sweep = Sweep { files: images.len(), ..Sweep::default() };
    for (image, answer) in images.iter().zip(answers) {
        sweep.relocations += answer.facts.relocations.values().sum::<u64>();
        sweep.differences.extend(compare(image, &answer.facts));
        if let Some(line) = answer.complaints.lines().next() {
            sweep.complaints.push((image.path.clone(), line.to_owned()));
        }
        if let Some(problem) = image.problems.first() {
            sweep.problems.push((image.path.clone(), problem.clone()));
        }
    }
    Ok(sweep)
}

impl Sweep {
    /// The result as a text for the terminal.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} ELF files, {} relocations: {} differences from readelf\n",
            self.files,
            self.relocations,
            self.differences.len()
        );
        for difference in &self.differences {
            let Difference { path, fact, oracle, headstart, .. } = difference;
            let _ = writeln!(text, "{path}: {fact}");
            let _ = writeln!(text, "    readelf   {}", shortened(oracle));
            let _ = writeln!(text, "    headstart {}", shortened(headstart));
        }
        for (title, lines) in [
            ("files that readelf complains about", &self.complaints),
            ("files in which headstart reports problems", &self.problems),
        ] {
            let _ = writeln!(text, "{} {title}", lines.len());
            for (line, paths) in grouped(lines) {
                let example = paths.first().copied().unwrap_or_default();
                let _ =
                    writeln!(text, "    {} × {}, such as {example}", paths.len(), shortened(line));
            }
        }
        text
    }
}

/// Paths by what is said of them.
fn grouped(lines: &[(String, String)]) -> BTreeMap<&str, Vec<&str>> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, line) in lines {
        groups.entry(line).or_default().push(path);
    }
    groups
}

/// Time and memory on a large image first, then the sweep; differences are printed.
///
/// # Errors
/// One of the programs cannot be run.
pub fn check(context: &Context) -> Result<Report> {
    let headstart = &context.headstart.program;
    let mut report = Report::default();
    if Path::new(LARGE).is_file() {
        report.rows.extend(speed::measure(&context.headstart, Path::new(LARGE), 7)?.rows());
    } else {
        let missing = format!("SKIPPED: {LARGE} is not installed");
        report.rows.push(Row { good: Some(false), ..Row::shown("large image", missing) });
    }
    let sweep = sweep(headstart, &["/usr/bin", "/usr/lib"])?;
    print!("{}", sweep.table());
    let differences = sweep.differences.len();
    let figure = format!("differences in {} files", sweep.files);
    report.rows.push(Row::bar(figure, differences.to_string(), "0", differences == 0));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// The sweep in small: fifty programs, evenly spread over those of this machine.
    #[test]
    fn fifty_programs_have_readelfs_facts() {
        if testkit::tool("readelf").is_none() {
            return;
        }
        let programs = std::fs::read_dir("/usr/bin").unwrap().flatten().map(|entry| entry.path());
        let mut programs: Vec<PathBuf> = programs.filter(|path| path.is_file()).collect();
        programs.sort();
        let small = |path: &&PathBuf| path.metadata().is_ok_and(|data| data.len() < 1 << 20);
        let facts = programs.iter().filter(small).filter_map(|path| image::elf::facts(path).ok());
        let images: Vec<ElfFacts> = facts.collect();
        assert!(images.len() >= 50, "only {} programs in /usr/bin", images.len());
        let step = images.len() / 50;
        let chosen: Vec<ElfFacts> = images.into_iter().step_by(step).take(50).collect();
        let sweep = compare_all(&chosen).unwrap();
        assert_eq!(sweep.files, 50);
        assert!(sweep.differences.is_empty(), "{}", sweep.table());
    }

    #[test]
    fn a_wrong_count_is_a_difference() {
        if testkit::tool("readelf").is_none() {
            return;
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testfiles/elf/versions.so");
        let mut image = image::elf::facts(&path).unwrap();
        image.imports += 1;
        let sweep = compare_all(&[image]).unwrap();
        assert_eq!(sweep.differences.len(), 1);
        assert!(sweep.table().contains("imports"), "{}", sweep.table());
    }
}
