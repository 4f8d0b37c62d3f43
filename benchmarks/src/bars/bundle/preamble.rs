//! What the preamble costs: how many files it looks at in bundles of real programs, and the time of
//! so many looks by the preamble's own test.

use super::variants::Subject;
use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result, ensure};
use std::process::Command;
use testkit::workspace::cargo;

/// As many as the test's preamble looks at.
const TIMED: usize = 8;
const MOST_NS: u64 = 15_000;

/// Counts what the preambles of bundles look at where nothing has changed.
///
/// # Errors
/// strace cannot be run.
pub fn looks(context: &Context, subject: &Subject) -> Result<Vec<Row>> {
    let bundles = subject.made.iter().filter(|made| made.name.starts_with("bundle"));
    let rows = bundles.map(|made| {
        let log = context.scratch.join("looks");
        let mut strace = Command::new("strace");
        strace.args(["-e", "trace=newfstatat,readlinkat,mprotect,munmap,execve", "-o"]).arg(&log);
        strace.arg(&made.program).arg("--version").env_remove(testkit::workspace::SET_BY_CARGO);
        let output = strace.output().context("strace cannot be run: apt-get install strace")?;
        ensure!(output.status.success(), "{strace:?} failed");
        let count = looks_in(&std::fs::read_to_string(&log)?);
        let figure = format!("preamble, {}, {}: looks", subject.name, made.name);
        let value = count.map_or("none seen".to_owned(), |count| count.to_string());
        let good = count.is_some_and(|count| count <= TIMED);
        Ok(Row::bar(figure, value, &format!("≤ {TIMED}, which are timed"), good))
    });
    rows.collect()
}

/// It begins with `ld.so.preload`, which the loader itself asks for in another way, and looks at
/// one after the other.
fn looks_in(log: &str) -> Option<usize> {
    let mut lines = log.lines().skip_while(|line| !line.contains("/etc/ld.so.preload"));
    let first = lines.next()?;
    let looks = ["newfstatat(AT_FDCWD", "readlinkat(AT_FDCWD"];
    let others = lines.take_while(|line| looks.iter().any(|look| line.starts_with(look)));
    Some(others.count() + usize::from(first.starts_with("newfstatat")))
}

/// The time of eight looks in eight folders, from the preamble's own launches.
///
/// # Errors
/// The test cannot be run.
pub fn time() -> Result<Row> {
    let test = ["--test", "launches", "--", "--ignored", "--nocapture", "the_bar_and_the_cost"];
    let mut command = cargo(&[&["test", "--release", "--package", "startup"], &test[..]].concat());
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find_map(|line| line.strip_prefix("8 records of many folders: "));
    let line = line.with_context(|| format!("no time of 8 records:\n{said}"))?;
    let least = line.split(' ').next().and_then(|word| word.parse::<u64>().ok());
    let least = least.with_context(|| format!("no time in: {line}"))?;
    Ok(Row::bar("preamble, 8 looks in many folders", line.to_owned(), "≤ 15 µs", least <= MOST_NS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_counted_from_the_first_to_the_last() {
        let log = "newfstatat(3, \"\", {}, AT_EMPTY_PATH) = 0\nmprotect(0x1, 4096, PROT_READ) = 0\n\
            newfstatat(AT_FDCWD, \"/etc/ld.so.preload\", 0x7, 0) = -1 ENOENT\n\
            newfstatat(AT_FDCWD, \"/usr/lib\", {}, 0) = 0\n\
            readlinkat(AT_FDCWD, \"/lib\", \"usr/lib\", 4096) = 7\nmprotect(0x1, 4096, PROT_READ) = 0\n\
            newfstatat(AT_FDCWD, \"/etc/passwd\", {}, 0) = 0\n";
        assert_eq!(looks_in(log), Some(3));
        assert_eq!(looks_in("mprotect(0x1, 4096, PROT_READ) = 0"), None);
    }
}
