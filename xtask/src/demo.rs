//! `cargo xtask demo`: the main job, on real programs of this machine.

use crate::cargo::{SET_BY_CARGO, cargo, root, succeeds};
use crate::packages;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Programs to explain, the most telling first. The first that is installed is shown.
const PROGRAMS: [&[&str]; 4] = [
    &["inkscape", "--version"],
    &["soffice", "--version"],
    &["chromium", "--version", "--no-sandbox"],
    EMACS,
];
/// Installed where none of them is.
const EMACS: &[&str] = &["emacs", "--batch", "-Q", "--eval", "(kill-emacs)"];
/// Pairs to compare: a program, and the same program told to do less or more.
const PAIRS: [[&str; 2]; 3] = [
    ["git --version", "git status"],
    ["python3 -c pass", "python3 -S -E -c pass"],
    ["emacs --batch -Q --eval (kill-emacs)", "emacs --batch --eval (kill-emacs)"],
];

/// Builds headstart and shows what it prints. True if all of it works.
///
/// # Errors
/// Something cannot be started.
pub fn run() -> Result<bool> {
    let mut program = chosen();
    if program.is_none() {
        let emacs = testkit::known(EMACS[0]).context("emacs has no package")?;
        packages::ensure(&[emacs])?;
        program = chosen();
    }
    if !succeeds(&mut cargo(&["build", "--release", "--package", "headstart"]))? {
        return Ok(false);
    }
    let headstart = crate::built_headstart()?;
    // Anything that is on every machine; said loudly above.
    let program = program.unwrap_or(&["ls", "/"]);
    let file = testkit::find(program[0]).unwrap_or_default();
    let file = file.canonicalize().unwrap_or(file);
    let file = file.to_string_lossy();
    let mut good = show(&headstart, &["doctor"])?;
    good &= show(&headstart, &[&["measure", "--"], program].concat())?;
    if let Some(pair) = pair() {
        good &= show(&headstart, &[&["compare", "--runs", "100", "--"], &pair[..]].concat())?;
    }
    good &= show(&headstart, &["inspect", &file])?;
    good &= show(&headstart, &[&["explain", "--"], program].concat())?;
    good &= show(&headstart, &["scale", "shape", "dense", "--n", "0..256:8", "--budget", "10s"])?;
    good &= show(&headstart, &["experiment", "pietrek", "--warm-only"])?;
    println!("\nThe command is {}: try it with --help.", headstart.display());
    Ok(good)
}

fn chosen() -> Option<&'static [&'static str]> {
    PROGRAMS.into_iter().find(|program| testkit::find(program[0]).is_some())
}

fn pair() -> Option<[&'static str; 2]> {
    let installed = |line: &str| line.split(' ').next().and_then(testkit::find).is_some();
    PAIRS.into_iter().find(|pair| installed(pair[0]))
}

/// Prints the command as one would type it, then runs it.
fn show(headstart: &Path, arguments: &[&str]) -> Result<bool> {
    let words: Vec<String> = arguments.iter().map(|word| typed(word)).collect();
    println!("\n$ headstart {}\n", words.join(" "));
    let mut command = Command::new(headstart);
    command.args(arguments).env_remove(SET_BY_CARGO).current_dir(root());
    let status = command.status();
    let status = status.with_context(|| format!("{} cannot be run", headstart.display()))?;
    Ok(status.success())
}

fn typed(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(typed("--runs"), "--runs");
        assert_eq!(typed("(kill-emacs)"), "'(kill-emacs)'");
        assert_eq!(typed("git status"), "'git status'");
    }
}
