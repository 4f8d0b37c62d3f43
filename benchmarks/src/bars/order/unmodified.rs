//! Real programs say the same and end in the same way while they are recorded.

use super::bed::text;
use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

const LEAST: usize = 30;
const HANDLES_SIGTRAP: &str = "import os, signal\n\
    signal.signal(signal.SIGTRAP, lambda number, frame: print('caught', number))\n\
    os.kill(os.getpid(), signal.SIGTRAP)\n";
const BLOCKS_SIGTRAP: &str = "import decimal, os, signal\n\
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP])\n\
    os.kill(os.getpid(), signal.SIGTRAP)\n\
    print(decimal.Decimal(2).sqrt(), signal.sigpending())\n";
const DIES_OF_SIGTRAP: &str = "kill 'TRAP', $$";
const THREADS: &str = "import threading, zlib\n\
    said = []\n\
    work = lambda n: said.append(zlib.crc32(bytes(n * 1000)))\n\
    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]\n\
    [thread.start() for thread in threads]\n\
    [thread.join() for thread in threads]\n\
    print(sorted(said))\n";
const FORKS: &str =
    "for i in 1 2 3; do echo $i | cat | tr 1 a; done; (exit 3); echo $?; kill -0 $$; exit 7";

/// Programs and their arguments. Those that are not installed are left out.
const PROGRAMS: &[&[&str]] = &[
    &["true"],
    &["false"],
    &["ls", "-l", "/usr/bin"],
    &["git", "--version"],
    &["git", "no-such-verb"],
    &["python3", "-c", "import json, sqlite3, ssl; print(json.dumps({'a': [1, 2]}))"],
    &["python3", "-c", HANDLES_SIGTRAP],
    &["python3", "-c", BLOCKS_SIGTRAP],
    &["python3", "-c", THREADS],
    &["perl", "-e", "use POSIX; use List::Util 'sum'; print floor(3.7), sum(1 .. 9), \"\\n\""],
    &["perl", "-e", DIES_OF_SIGTRAP],
    &["bash", "-c", FORKS],
    &["dash", "-c", FORKS],
    &["emacs", "--batch", "-Q", "--eval", "(message \"hi %s\" emacs-version)"],
    &["clang-19", "-x", "c", "-fsyntax-only", "/etc/passwd"],
    &["clang-19", "-x", "c", "-S", "-o", "-", "/dev/null"],
    &["gcc", "-x", "c", "-S", "-o", "-", "/dev/null"],
    &["node", "-e", "console.log([1, 2, 3].map(x => x * 2).join())"],
    &["sqlite3", ":memory:", "select 1 + 1, sqlite_version();"],
    &["soffice", "--headless", "--version"],
    &["inkscape", "--version"],
    &["chromium", "--version"],
    &["gdb", "--batch", "-ex", "print 1 + 1"],
    &["ld.lld-19", "--version"],
    &["redis-server", "--version"],
    &["openssl", "version"],
    &["valgrind", "--version"],
    &["readelf", "-h", "/bin/true"],
    &["objdump", "-f", "/bin/true"],
    &["nm", "-D", "/bin/true"],
    &["as", "--version"],
    &["patchelf", "--print-needed", "/bin/true"],
    &["tar", "--version"],
    &["xz", "--version"],
    &["find", "/etc", "-maxdepth", "1", "-name", "h*"],
    &["awk", "BEGIN { print 1 / 3 }"],
    &["sed", "s/a/b/", "/etc/hostname"],
    &["sort", "-u", "/etc/group"],
    &["grep", "-c", "root", "/etc/passwd"],
    &["mold", "--version"],
    &["cc", "--version"],
    &["file", "/bin/true"],
    &["go", "version"],
    &["uftrace", "--version"],
    &["lua5.4", "-e", "print(2 ^ 10)"],
];

/// What a launch said, and how it ended, as headstart writes it.
struct Said {
    /// Each line and how often: several processes write in any order.
    lines: BTreeMap<Vec<u8>, usize>,
    ending: serde_json::Value,
}

pub fn rows(context: &Context) -> Result<Vec<Row>> {
    let installed = PROGRAMS.iter().filter(|words| testkit::find(words[0]).is_some());
    let (mut same, mut others) = (0, Vec::new());
    for words in installed {
        match difference(context, words) {
            Ok(None) => same += 1,
            Ok(Some(difference)) => others.push(format!("{}: {difference}", words[0])),
            Err(error) => others.push(format!("{}: {error:#}", words[0])),
        }
    }
    let value = format!("{same} of {}", same + others.len());
    let good = others.is_empty() && same >= LEAST;
    let row = Row::bar("unmodified programs that do the same", value, "all, ≥ 30", good);
    Ok(vec![row.beside(others.join("; "))])
}

/// In words what differs; nothing that also differs between two launches that are not recorded.
fn difference(context: &Context, words: &[&str]) -> Result<Option<String>> {
    let native = native(context, words)?;
    let again = self::native(context, words)?;
    let recorded = recorded(context, words)?;
    if native.ending != recorded.ending {
        return Ok(Some(format!("{} instead of {}", recorded.ending, native.ending)));
    }
    let differs = |line: &&Vec<u8>| native.lines.get(*line) != recorded.lines.get(*line);
    let found = native.lines.keys().chain(recorded.lines.keys()).find(differs);
    let always = native.lines == again.lines;
    Ok(match found {
        Some(line) if always => Some(format!("'{}'", String::from_utf8_lossy(line))),
        Some(_) if native.lines.len() != recorded.lines.len() => Some("other lines".to_owned()),
        _ => None,
    })
}

fn native(context: &Context, words: &[&str]) -> Result<Said> {
    use std::os::unix::process::ExitStatusExt;
    let said = context.scratch.join("said");
    let file = File::create(&said)?;
    let mut command = quiet(context, words[0]);
    command.args(&words[1..]).stdout(file.try_clone()?).stderr(file);
    let status = command.status().with_context(|| format!("{command:?} cannot be run"))?;
    let ending = match status.code() {
        Some(code) => serde_json::json!({ "code": code }),
        None => serde_json::json!({ "signal": status.signal() }),
    };
    Ok(Said { lines: lines(&said)?, ending })
}

/// With the summary on standard output, what the program says goes to standard error.
fn recorded(context: &Context, words: &[&str]) -> Result<Said> {
    let (said, out) = (context.scratch.join("said"), context.scratch.join("said.trace"));
    let mut command = quiet(context, text(&context.headstart.program)?);
    command.args(["trace", "--json", "--ignore-failure", "--timeout", "120s", "--out"]);
    command.arg(out).arg("--").args(words).stderr(File::create(&said)?);
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| fs::read_to_string(&said).unwrap_or_default())?;
    let ending = summary.get("ending").cloned().context("no ending")?;
    Ok(Said { lines: lines(&said)?, ending })
}

/// Without input, in a home of its own.
fn quiet(context: &Context, program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(std::process::Stdio::null()).current_dir(&context.scratch);
    command.env_remove(testkit::workspace::SET_BY_CARGO).env("HOME", &context.scratch);
    command
}

fn lines(file: &Path) -> Result<BTreeMap<Vec<u8>, usize>> {
    let mut lines = BTreeMap::new();
    for line in fs::read(file)?.split(|byte| *byte == b'\n') {
        *lines.entry(line.to_vec()).or_insert(0) += 1;
    }
    Ok(lines)
}
