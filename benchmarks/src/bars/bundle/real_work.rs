//! Real work: what large programs make and write is the same from both kinds of bundle, and no
//! original that was merged is mapped.

use super::tasks::{WORKS, Work};
use super::variants::{Made, make};
use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BUNDLES: [&str; 2] = ["bundle", "bundle --fixed"];

/// Each by the original and by its bundles. Work that cannot be done is a row that fails.
pub fn rows(context: &Context) -> Vec<Row> {
    let mut rows = Vec::new();
    for work in WORKS {
        let figure = format!("work, {} {}", work.program, work.arguments[0]);
        match compared(context, &work, &figure) {
            Ok(found) => rows.extend(found),
            Err(error) => rows.push(Row::bar(figure, format!("{error:#}"), "the same", false)),
        }
    }
    rows
}

fn compared(context: &Context, work: &Work, figure: &str) -> Result<Vec<Row>> {
    let path = match work.program.contains('/') {
        true => PathBuf::from(work.program),
        false => testkit::find(work.program).with_context(|| work.program.to_owned())?,
    };
    let expected = done(context, work, &path)?;
    let nothing = expected.stdout.is_empty() && expected.file.is_empty();
    ensure!(!nothing, "nothing is made, it ends with {:?}: {}", expected.code, expected.stderr);
    let row = |kind: &'static str| {
        let figure = format!("{figure}, {kind}");
        let folder = context.scratch.join("work-bundle");
        let row = match make(context, kind, &path, &folder) {
            Ok(made) => judged(context, work, &made, &expected, figure)?,
            Err(error) => {
                let why = format!("{error:#}");
                let said = why.rsplit("headstart: ").next().unwrap_or_default().trim();
                Row::shown(figure, format!("declined: {said}"))
            }
        };
        std::fs::remove_dir_all(&folder)?;
        Ok(row)
    };
    BUNDLES.into_iter().map(row).collect()
}

/// What is to be the same.
struct Done {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
    file: Vec<u8>,
    trace: Trace,
}

fn judged(
    context: &Context,
    work: &Work,
    made: &Made,
    expected: &Done,
    figure: String,
) -> Result<Row> {
    let found = done(context, work, &made.program)?;
    let replaced = made.replaced.iter().filter_map(|path| path.canonicalize().ok());
    let again: Vec<PathBuf> = replaced.filter(|path| found.trace.mapped.contains(path)).collect();
    let value = if found.code != expected.code {
        format!(
            "it ends with {:?}: {}",
            found.code,
            found.stderr.lines().last().unwrap_or_default()
        )
    } else if found.stdout != expected.stdout {
        "it prints something else".to_owned()
    } else if found.file != expected.file {
        "its file is another".to_owned()
    } else if let Some(first) = again.first() {
        format!("{} merged files are mapped: {}", again.len(), first.display())
    } else if found.trace.started.iter().filter(|(_, by_first)| *by_first).count() != 1 {
        "the bundle gave way to another program".to_owned()
    } else {
        let bytes = found.stdout.len() + found.file.len();
        // It takes itself for the original, and starts that where it starts itself.
        let original =
            |(path, _): &&(PathBuf, bool)| made.replaced.iter().any(|replaced| replaced == path);
        let children = match found.trace.started.iter().filter(original).count() {
            0 => String::new(),
            count => format!("; {count} of its children are the original"),
        };
        let value = format!("the same {bytes} bytes{children}");
        return Ok(Row::bar(figure, value, "the same", true));
    };
    Ok(Row::bar(figure, value, "the same", false))
}

/// LibreOffice makes its profile, and asks to be started again.
const AGAIN: i32 = 81;

/// Runs it under strace, which tells what is mapped by it and its children.
fn done(context: &Context, work: &Work, program: &Path) -> Result<Done> {
    let folder = context.scratch.join("work");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(work.input.0), work.input.1)?;
    let log = context.scratch.join("work-mapped");
    let run = || -> Result<Output> {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-y", "-e", "trace=mmap,execve", "-o"]).arg(&log).arg(program);
        let place = folder.display().to_string();
        strace.args(work.arguments.iter().map(|word| word.replace("FOLDER", &place)));
        strace.env_remove(testkit::workspace::SET_BY_CARGO).current_dir(&folder);
        // So that what has a date has this one.
        strace.env("SOURCE_DATE_EPOCH", "1000000000");
        strace.output().context("strace cannot be run: apt-get install strace")
    };
    let mut output = run()?;
    if output.status.code() == Some(AGAIN) {
        output = run()?;
    }
    let file = work.output.map(|name| std::fs::read(folder.join(name)).unwrap_or_default());
    std::fs::remove_dir_all(&folder)?;
    Ok(Done {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        file: undated(file.unwrap_or_default()),
        trace: trace(&String::from_utf8_lossy(&std::fs::read(&log)?), program),
    })
}

/// Lines of a PDF that are of one time or one file.
const DATED: [&[u8]; 3] = [b"/CreationDate", b"/ID [", b"/DocChecksum"];

/// A PDF without its date and the identity made of it; anything else as it is.
fn undated(file: Vec<u8>) -> Vec<u8> {
    if !file.starts_with(b"%PDF") {
        return file;
    }
    let is_dated =
        |line: &[u8]| DATED.iter().any(|word| line.windows(word.len()).any(|at| at == *word));
    let mut kept = Vec::new();
    let mut in_identity = false;
    for line in file.split(|&byte| byte == b'\n') {
        // The second half of the identity is on a line of its own.
        let second = std::mem::take(&mut in_identity);
        in_identity = line.windows(5).any(|at| at == b"/ID [");
        if !second && !is_dated(line) {
            kept.extend_from_slice(line);
            kept.push(b'\n');
        }
    }
    kept
}

/// What processes of one program did, from strace's log.
#[derive(Default)]
struct Trace {
    /// Files that its processes mapped, those aside that started something else.
    mapped: BTreeSet<PathBuf>,
    /// What was started, the program itself first, and whether by the first process.
    started: Vec<(PathBuf, bool)>,
}

/// From lines such as `12 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3</usr/lib/libz.so>, 0) = …`
/// and `12 execve("/usr/bin/git", …`.
fn trace(log: &str, program: &Path) -> Trace {
    let mut trace = Trace::default();
    let mut elsewhere = BTreeSet::new();
    let first = log.split_whitespace().next().unwrap_or_default();
    for line in log.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some(rest) = call.strip_prefix("execve(\"") {
            let path = rest.split('"').next().map(PathBuf::from).unwrap_or_default();
            if rest.contains(") = -1") {
                continue;
            }
            match path == program {
                true => elsewhere.remove(process),
                false => elsewhere.insert(process),
            };
            trace.started.push((path, process == first));
        } else if call.starts_with("mmap(") && !elsewhere.contains(process) {
            let path = call.split_once('<').and_then(|(_, rest)| rest.split_once(">, "));
            trace.mapped.extend(path.map(|(path, _)| PathBuf::from(path)));
        }
    }
    trace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_a_pdf_are_left_out() {
        let pdf = |date: &str| {
            format!("%PDF-1.7\none\n<</CreationDate({date})>>\n/ID [ <{date}>\n<{date}> ]\ntwo\n")
        };
        let [one, other] = ["1", "2"].map(|date| undated(pdf(date).into_bytes()));
        assert_eq!(one, other);
        assert_eq!(undated(b"/ID [ 1".to_vec()), b"/ID [ 1");
        assert!(String::from_utf8(one).unwrap().contains("two"));
    }

    #[test]
    fn what_processes_do_is_read_from_strace() {
        let log = "7 execve(\"/b/run\", [\"/b/run\"], 0x7 /* 9 vars */) = 0\n\
            7 mmap(NULL, 10, PROT_READ, MAP_PRIVATE, 3</lib/a.so>, 0) = 0x7\n\
            7 mmap(NULL, 10, PROT_READ, MAP_ANONYMOUS, -1, 0) = 0x8\n\
            8 execve(\"/bin/no\", [\"no\"], 0x7 /* 9 vars */) = -1 ENOENT (No such file)\n\
            8 mmap(NULL, 10, PROT_READ, MAP_PRIVATE, 3</lib/b.so>, 0) = 0x7\n\
            8 execve(\"/bin/b\", [\"b\"], 0x7 /* 9 vars */ <unfinished ...>\n\
            8 mmap(NULL, 10, PROT_READ, MAP_PRIVATE, 3</lib/c.so>, 0) = 0x7\n";
        let trace = trace(log, Path::new("/b/run"));
        assert_eq!(trace.mapped, ["/lib/a.so", "/lib/b.so"].map(PathBuf::from).into());
        let started = [("/b/run".into(), true), ("/bin/b".into(), false)];
        assert_eq!(trace.started, started);
    }
}
