//! headstart.exe, the build for Windows: made here, and tested under Wine.

use crate::counts::{Counts, tests};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use testkit::pe::Wine;
use testkit::workspace::{cargo, root, succeeds};
use zip::write::SimpleFileOptions;

/// What is built and tested; Wine runs it.
const BUILT: &str = "x86_64-pc-windows-gnu";
/// What is only checked: there is nothing here that links or runs it.
const CHECKED: [&str; 3] =
    ["x86_64-pc-windows-msvc", "i686-pc-windows-gnu", "aarch64-pc-windows-gnullvm"];
/// Crates whose tests run on Windows: all that headstart.exe is made of.
const CRATES: [&str; 15] = [
    "dlls",
    "explain",
    "files",
    "headstart",
    "image",
    "lab",
    "loader",
    "model",
    "ordering",
    "os",
    "prefetch",
    "report",
    "rewrite",
    "stats",
    "workload",
];
/// Tells tests where the build is.
const EXE: &str = "HEADSTART_EXE";
/// Beside the program in the archive.
const DOCUMENTS: [&str; 3] = ["README.md", "CHANGELOG.md", "LICENSE"];

/// Makes sure that the standard library is there for the target. False, with the reason on stderr,
/// where it cannot be had.
fn add_target(target: &str) -> Result<bool> {
    let known =
        Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    let folder = known.map(|known| String::from_utf8_lossy(&known.stdout).trim().to_owned());
    if folder.is_ok_and(|folder| PathBuf::from(folder).is_dir()) {
        return Ok(true);
    }
    if testkit::find("rustup").is_none() {
        eprintln!(
            "SKIPPED: everything for {target}: Rust's standard library for it is not installed (install rustup)"
        );
        return Ok(false);
    }
    Ok(succeeds(Command::new("rustup").args(["target", "add", target]))?)
}

/// Builds the command for Windows; where it is. `None` where that is not possible here.
///
/// # Errors
/// Cargo cannot be run, or the build fails.
pub fn build() -> Result<Option<PathBuf>> {
    if !add_target(BUILT)? || testkit::tool("x86_64-w64-mingw32-gcc").is_none() {
        return Ok(None);
    }
    if !succeeds(&mut cargo(&["build", "--locked", "-p", "headstart", "--target", BUILT]))? {
        bail!("headstart.exe could not be built");
    }
    Ok(Some(target_folder()?.join(BUILT).join("debug/headstart.exe")))
}

/// Where cargo builds.
fn target_folder() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.ancestors().nth(2).context("xtask is in no target folder")?;
    Ok(folder.to_owned())
}

/// Tells the tests that `command` runs where the build is.
pub fn tell(command: &mut Command, exe: Option<&PathBuf>) {
    if let Some(exe) = exe {
        command.env(EXE, exe);
    }
}

/// Unit tests of all that headstart.exe is made of, and its launches, under Wine. True, and no counts, where there is
/// none.
///
/// # Errors
/// Cargo or Wine cannot be run.
pub fn unit() -> Result<(bool, Counts)> {
    let Some(wine) = Wine::shared().filter(|wine| wine.runs_rust()) else {
        return Ok((true, Counts::default()));
    };
    if !add_target(BUILT)? {
        return Ok((true, Counts::default()));
    }
    let mut arguments = vec!["test", "--locked", "--lib", "--bins", "--no-fail-fast"];
    arguments.extend(["--test", "windows", "--test", "windows_load", "--target", BUILT]);
    arguments.extend(CRATES.iter().flat_map(|name| ["-p", name]));
    let mut command = cargo(&arguments);
    let (program, variables) = wine.surroundings();
    for (name, value) in variables {
        match value {
            // Cargo and the linker need their own.
            Some(_) if name == "TMPDIR" => {}
            Some(value) => drop(command.env(name, value)),
            None => drop(command.env_remove(name)),
        }
    }
    command.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", program);
    // Snapshots are found by paths of Linux, and written by tests of Linux.
    command.env("INSTA_WORKSPACE_ROOT", root()).env("INSTA_UPDATE", "no");
    tests(&mut command)
}

/// Whether what is for Windows alone is clean, and compiles for the other kinds of Windows.
///
/// # Errors
/// Cargo cannot be run.
pub fn check() -> Result<bool> {
    let own = ["headstart", "files", "lab", "os"].map(|name| ["-p", name]).concat();
    let clippy = ["clippy", "--locked", "--target", BUILT];
    let clippy = [&clippy[..], &own, &["--", "-D", "warnings"]].concat();
    let mut good = add_target(BUILT)? && succeeds(&mut cargo(&clippy))?;
    for target in CHECKED {
        let check = ["check", "--locked", "-p", "headstart", "--target", target];
        good &= add_target(target)? && succeeds(&mut cargo(&check))?;
    }
    Ok(good)
}

/// `cargo xtask dist --windows`: an archive with headstart.exe.
///
/// # Errors
/// It cannot be built or written.
pub fn dist() -> Result<bool> {
    if !add_target(BUILT)? {
        return Ok(false);
    }
    let build = ["build", "--locked", "--release", "-p", "headstart", "--target", BUILT];
    if !succeeds(&mut cargo(&build))? {
        return Ok(false);
    }
    let target = target_folder()?;
    let folder = target.join("dist");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let name = format!("headstart-{}-{BUILT}", env!("CARGO_PKG_VERSION"));
    let path = folder.join(format!("{name}.zip"));
    let exe = target.join(BUILT).join("release/headstart.exe");
    let documents = DOCUMENTS.map(|document| root().join(document));
    let mut archive = zip::ZipWriter::new(File::create(&path)?);
    for file in [&exe].into_iter().chain(&documents) {
        let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
        let inner = file.file_name().unwrap_or_default().to_string_lossy();
        archive.start_file(format!("{name}/{inner}"), SimpleFileOptions::default())?;
        archive.write_all(&bytes)?;
    }
    archive.finish()?;
    println!("{}", path.display());
    Ok(true)
}
