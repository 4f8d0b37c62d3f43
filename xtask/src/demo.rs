//! `cargo xtask demo`: the main job, on real programs of this machine.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use testkit::packages;
use testkit::workspace::{SET_BY_CARGO, built_headstart, cargo, root, succeeds};

/// Programs to explain, the most telling first. The first that is installed is shown.
const PROGRAMS: [&[&str]; 4] = [
    &["inkscape", "--version"],
    &["soffice", "--version"],
    &["chromium", "--version", "--no-sandbox"],
    EMACS,
];
/// Installed where none of them is.
const EMACS: &[&str] = &["emacs", "--batch", "-Q", "--eval", "(kill-emacs)"];
/// Programs to optimize, the one that gains most first. Scripts cannot be.
const OPTIMIZED: [&[&str]; 2] = [&["inkscape", "--version"], CLANG];
/// Installed where none of them is. It prints nothing about its own place.
const CLANG: &[&str] = &["clang-19", "-dumpversion"];
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
    if to_optimize().is_none() {
        let clang = testkit::known(CLANG[0]).context("clang has no package")?;
        packages::ensure(&[clang])?;
    }
    if !succeeds(&mut cargo(&["build", "--release", "--package", "headstart"]))? {
        return Ok(false);
    }
    let headstart = built_headstart()?;
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
    good &= rewritten(&headstart)?;
    good &= optimized(&headstart)?;
    println!("\nThe command is {}: try it with --help.", headstart.display());
    Ok(good)
}

/// Generated DLLs: what they do to each other, and two cures of that, which any host can give.
fn rewritten(headstart: &Path) -> Result<bool> {
    let place = place()?;
    let folder = |name: &str| place.path().join(name).to_string_lossy().into_owned();
    let (made, apart, out) = (folder("dlls"), folder("apart"), folder("repaired"));
    let generate = ["generate", "pietrek", "--format", "pe", "--dlls", "3", "--hints", "zero"];
    let mut good = show(headstart, &[&generate[..], &["--out", &made]].concat())?;
    good &= show(headstart, &["identify", &made])?;
    good &= show(headstart, &["pe", "survey", &made])?;
    for (verb, from, to) in [("rebase", &made, &apart), ("hints", &apart, &out)] {
        let files = images(from)?;
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        good &= show(headstart, &[&["pe", verb, "--out", to], &files[..]].concat())?;
    }
    Ok(good & show(headstart, &["pe", "survey", &out])?)
}

/// Programs and DLLs of a folder.
fn images(folder: &str) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{folder} was not made"))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let images = paths.filter(|path| path.extension().is_some_and(|e| e == "exe" || e == "dll"));
    let mut images: Vec<String> = images.map(|path| path.display().to_string()).collect();
    images.sort();
    Ok(images)
}

/// A folder that goes away in the end.
fn place() -> Result<tempfile::TempDir> {
    let place = tempfile::Builder::new().prefix("headstart-demo-").tempdir();
    place.context("there is no folder for temporary files")
}

/// Makes a real program start faster, and starts what was left.
fn optimized(headstart: &Path) -> Result<bool> {
    let Some(program) = to_optimize() else {
        println!("\nNone of the programs to optimize is installed.");
        return Ok(true);
    };
    let place = place()?;
    let out = place.path().join(format!("{}-fast", program[0]));
    let out = out.to_string_lossy();
    // Only variants that keep the randomization of addresses: what anybody could use at once.
    if !show(headstart, &[&["optimize", "--out", &out, "--"], program].concat())? {
        return Ok(false);
    }
    let run = format!("{out}/run");
    let line = |words: &[&str]| words.iter().map(|word| typed(word)).collect::<Vec<_>>().join(" ");
    let lines = [line(program), line(&[&[run.as_str()], &program[1..]].concat())];
    let good = show(headstart, &["compare", "--", &lines[0], &lines[1]])?;
    println!("\nThat folder is removed now; name your own with --out.");
    Ok(good)
}

fn chosen() -> Option<&'static [&'static str]> {
    PROGRAMS.into_iter().find(|program| testkit::find(program[0]).is_some())
}

fn to_optimize() -> Option<&'static [&'static str]> {
    OPTIMIZED.into_iter().find(|program| testkit::find(program[0]).is_some())
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
