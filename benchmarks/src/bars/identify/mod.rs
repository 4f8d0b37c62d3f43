//! `headstart identify` against file(1): time, what a look asks of the system, what it leaves in
//! memory, and whether what it says is right.

mod correctness;
mod page_cache;
mod system_calls;

use crate::context::Context;
use crate::report::{Report, Row};
use crate::statistics::median;
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Files of one call.
const FILES: usize = 5000;
/// How much faster than `file` they must be told apart.
const MIN_RATIO: f64 = 10.0;
const ROUNDS: usize = 15;

/// Times first, before the caches are touched.
///
/// # Errors
/// A program cannot be run, or says something else than expected.
pub fn check(context: &Context) -> Result<Report> {
    let all = below(Path::new("/usr"))?;
    let files = spread(&all, FILES);
    ensure!(files.len() == FILES, "/usr has only {} files", all.len());
    let headstart = &context.headstart.program;
    let mut report = Report { rows: times(headstart, &files)? };
    report.rows.extend(system_calls::rows(headstart, &spread(&all, 400))?);
    report.rows.extend(page_cache::rows(context, &all)?);
    report.rows.extend(correctness::rows(&all)?);
    Ok(report)
}

/// Regular files below a folder, in order.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder);
        for entry in entries.with_context(|| format!("{} cannot be listed", folder.display()))? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// So many of them, evenly over the whole.
fn spread(all: &[PathBuf], count: usize) -> Vec<PathBuf> {
    let count = count.min(all.len());
    (0..count).filter_map(|index| all.get(index * all.len() / count)).cloned().collect()
}

/// Medians of interleaved rounds; a first round is not counted and reads the files into memory.
fn times(headstart: &Path, files: &[PathBuf]) -> Result<Vec<Row>> {
    let commands: [(&str, &Path, &[&str], &str); 3] = [
        ("file", Path::new("file"), &[], ""),
        ("all threads", headstart, &["identify"], ""),
        ("one thread", headstart, &["identify"], "1"),
    ];
    let mut all_ms = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        for turn in 0..commands.len() {
            let which = (round + turn) % commands.len();
            let (_, program, arguments, threads) = commands[which];
            let ms = time(program, arguments, threads, files)?;
            if round > 0 {
                all_ms[which].push(ms);
            }
        }
    }
    let [file_ms, default_ms, single_ms] = all_ms.map(median);
    let text = |ms: f64| format!("{ms:.1} ms, {:.0} × faster", file_ms / ms);
    let file = format!("file {file_ms:.0} ms");
    let figure = format!("{FILES} files of /usr in one call, median of {ROUNDS}");
    Ok(vec![
        Row::bar(figure, text(default_ms), "≥ 10 ×", file_ms / default_ms >= MIN_RATIO)
            .beside(&*file),
        Row::shown("the same with one thread", text(single_ms)).beside(file),
    ])
}

fn time(program: &Path, arguments: &[&str], threads: &str, files: &[PathBuf]) -> Result<f64> {
    let mut command = Command::new(program);
    command.args(arguments).args(files).env("LC_ALL", "C").stdout(Stdio::null());
    if !threads.is_empty() {
        command.env("RAYON_NUM_THREADS", threads);
    }
    let start = Instant::now();
    let status = command.status();
    let elapsed = start.elapsed();
    let status = status.with_context(|| format!("{} cannot be run", program.display()))?;
    ensure!(status.success(), "{} failed: {status}", program.display());
    Ok(elapsed.as_secs_f64() * 1e3)
}
