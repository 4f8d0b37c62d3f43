//! headstart.exe under Wine does with real PE files what the build for Linux does: it prints the same
//! facts, writes the same bytes in place, and restores them. What it measures, explains and traces there is
//! checked as well.

mod explained;
mod measured;
mod traced;

use crate::context::Context;
use crate::report::{Report, Row};
use crate::subjects::pe_files::{self, Set};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use testkit::pe::Wine;
use testkit::workspace::{built_headstart, cargo, succeeds};

const TARGET: &str = "x86_64-pc-windows-gnu";
/// Files whose facts one command prints: Windows takes 32,767 characters.
const AT_ONCE: usize = 50;
/// Files of a set that are rewritten, spread over it.
const REWRITTEN: usize = 40;
/// Verbs that rewrite one file.
const VERBS: [&[&str]; 5] = [
    &["pe", "hints"],
    &["pe", "realign", "--strip-signature"],
    &["pe", "rebase", "--programs", "--strip-signature"],
    &["pe", "bind", "--strip-signature"],
    &["pe", "flags", "--set", "no-bind", "--strip-signature"],
];

struct Builds<'a> {
    context: &'a Context,
    wine: Arc<Wine>,
    exe: PathBuf,
}

/// What became of the files of a set.
#[derive(Default)]
struct Tally {
    printed: usize,
    rewritten: usize,
    differ: Vec<String>,
}

/// A row for each set of files.
///
/// # Errors
/// A package cannot be downloaded, or headstart.exe cannot be built.
pub fn check(context: &Context) -> Result<Report> {
    let build = ["build", "--release", "--package", "headstart", "--target", TARGET];
    ensure!(succeeds(&mut cargo(&build))?, "headstart.exe cannot be built");
    let built = built_headstart()?;
    let folder = built.parent().and_then(Path::parent).context("no target folder")?;
    let exe = folder.join(TARGET).join("release/headstart.exe");
    let wine = Wine::shared().filter(|wine| wine.runs_rust()).context("no Wine")?;
    let builds = Builds { context, wine, exe };
    let sets = pe_files::all()?;
    let mut rows: Vec<Row> = sets.iter().map(|set| builds.row(set)).collect::<Result<_>>()?;
    rows.extend(measured::rows(&builds)?);
    // On one CPU with its server, as `doctor` advises.
    let wine = Wine::on_one_cpu(context.cpu).filter(Wine::runs_rust).context("no Wine")?;
    let together = Builds { context, wine: Arc::new(wine), exe: builds.exe.clone() };
    rows.extend(explained::rows(&together, &sets)?);
    rows.extend(explained::rows_on_any_cpu(&builds, &sets)?);
    rows.extend(traced::rows(&builds, &sets)?);
    Ok(Report { rows })
}

impl Builds<'_> {
    fn row(&self, set: &Set) -> Result<Row> {
        let mut tally = Tally::default();
        for files in set.files.chunks(AT_ONCE) {
            self.facts(set, files, &mut tally)?;
        }
        let step = set.files.len().div_ceil(REWRITTEN).max(1);
        for file in set.files.iter().step_by(step) {
            self.rewritten(file, &mut tally)?;
        }
        let Tally { printed, rewritten, differ } = &tally;
        let mut value = format!(
            "{printed} files printed, {rewritten} times one rewritten, {} differ",
            differ.len()
        );
        differ.iter().take(3).for_each(|what| value += &format!("; {what}"));
        Ok(Row::bar(&set.name, value, "0 differ", differ.is_empty()))
    }

    /// Both builds print the same facts.
    fn facts(&self, set: &Set, files: &[PathBuf], tally: &mut Tally) -> Result<()> {
        let names: Vec<&str> =
            files.iter().filter_map(|file| file.strip_prefix(&set.folder).ok()?.to_str()).collect();
        for verb in ["inspect", "identify"] {
            let words = [&[verb, "--json"][..], &names].concat();
            let (linux, windows) = self.run(&set.folder, &set.folder, &words)?;
            if linux != windows {
                tally.differ.push(format!("{verb} of {} …", names.first().unwrap_or(&"")));
            }
        }
        tally.printed += names.len();
        Ok(())
    }

    /// Both builds rewrite a file alike, and restore it.
    fn rewritten(&self, file: &Path, tally: &mut Tally) -> Result<()> {
        let name = file.file_name().and_then(|name| name.to_str()).context("a name")?;
        let folders = [
            tempfile::tempdir_in(&self.context.scratch)?,
            tempfile::tempdir_in(&self.context.scratch)?,
        ];
        let [linux, windows] = folders.each_ref().map(|folder| folder.path().join(name));
        std::fs::copy(file, &linux)?;
        std::fs::copy(file, &windows)?;
        let original = std::fs::read(file)?;
        for verb in VERBS {
            let words = [verb, &["--in-place", name]].concat();
            let (before, after) = self.run(folders[0].path(), folders[1].path(), &words)?;
            let rewritten = std::fs::read(&linux)?;
            if before != after || rewritten != std::fs::read(&windows)? {
                tally.differ.push(format!("{} of {name}", verb.join(" ")));
            }
            if rewritten == original {
                continue;
            }
            tally.rewritten += 1;
            let words = [&verb[..2], &["--undo", name]].concat();
            self.run(folders[0].path(), folders[1].path(), &words)?;
            if std::fs::read(&windows)? != original {
                tally.differ.push(format!("undo of {} of {name}", verb.join(" ")));
            }
        }
        Ok(())
    }

    /// What both builds print, with their exit codes.
    fn run(&self, linux: &Path, windows: &Path, words: &[&str]) -> Result<(Printed, Printed)> {
        let mut command = Command::new(&self.context.headstart.program);
        let output = command.args(words).current_dir(linux).output()?;
        let exe = self.exe.to_str().context("a path that is not UTF-8")?;
        let printed = self.wine.printed(windows, &[&[exe], words].concat());
        Ok(((output.status.code(), output.stdout), (printed.code, printed.stdout)))
    }
}

/// An exit code, and what was printed.
type Printed = (Option<i32>, Vec<u8>);
