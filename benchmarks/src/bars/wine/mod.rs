//! Rewritten PE files under Wine's own loader: they do what they did, and sooner.
//!
//! All times are Wine's, with a server that stays, everything on one CPU. Nothing here shows how
//! fast Windows is.

pub mod launches;
mod memory;
mod qt;
mod real_programs;
pub mod rewritten;
mod workload;

use crate::context::Context;
use crate::report::{Report, Row};
use anyhow::{Context as _, Result, ensure};
use os::wine::Wine;
use std::path::Path;
use std::process::Command;

/// A library of Windows that Wine 8 lacks, and programs in Rust need.
const RANDOM: &str = "bcryptprimitives.dll";
const RANDOM_SOURCE: &str = include_str!("../../../c/bcryptprimitives.c");

/// Qt's DLLs loaded in turns, programs, and generated workloads that call every import.
///
/// # Errors
/// Wine does not work, a package cannot be downloaded, or headstart fails.
pub fn check(context: &Context) -> Result<Report> {
    let wine = Wine::start(Some(context.cpu))?;
    complete(&wine)?;
    let mut rows = vec![Row::shown("under", wine.version().to_owned())];
    rows.extend(qt::rows(context, &wine)?);
    rows.extend(real_programs::rows(context, &wine)?);
    rows.extend(workload::rows(context, &wine)?);
    wine.check()?;
    Ok(Report { rows })
}

/// The prefix has what programs without a window need; these need more of Wine's libraries. They
/// are links, so that nothing is copied.
fn complete(wine: &Wine) -> Result<()> {
    let libraries = testkit::pe::libraries().context("no DLLs of Wine")?;
    let environment = wine.command(Path::new("")).environment;
    let prefix = environment.into_iter().find(|(name, _)| name == "WINEPREFIX");
    let prefix = prefix.and_then(|(_, value)| value).context("no prefix")?;
    let system = Path::new(&prefix).join("drive_c/windows/system32");
    for entry in std::fs::read_dir(&libraries)? {
        let entry = entry?;
        let link = system.join(entry.file_name());
        if !link.exists() {
            std::os::unix::fs::symlink(entry.path(), link)?;
        }
    }
    if !system.join(RANDOM).exists() {
        mingw(&system, RANDOM, RANDOM_SOURCE, &["-shared", "-ladvapi32"])?;
    }
    Ok(())
}

/// Builds a program or DLL in a folder.
fn mingw(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Result<()> {
    let input = folder.join(format!("{name}.c"));
    std::fs::write(&input, source)?;
    let mut gcc = Command::new("x86_64-w64-mingw32-gcc");
    gcc.args(["-O1", "-s", "-Wl,--no-insert-timestamp", "-o"]).arg(folder.join(name)).arg(&input);
    let output = gcc.args(flags).output();
    let output = output.context("no mingw-w64: apt-get install gcc-mingw-w64-x86-64-win32")?;
    std::fs::remove_file(input)?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
