//! Rewritten PE files under Wine's own loader: they do what they did, and sooner.
//!
//! All times are Wine's, with a server that stays, everything on one CPU. Nothing here shows how
//! fast Windows is.

pub mod launches;
mod memory;
mod programs;
mod qt;
pub mod sets;
mod workload;

use super::Context;
use super::report::{Report, Row};
use anyhow::{Context as _, Result};
use os::wine::Wine;
use std::path::Path;

/// Qt's DLLs loaded in turns, programs, and generated workloads that call every import.
///
/// # Errors
/// Wine does not work, a package cannot be downloaded, or headstart fails.
pub fn check(context: &Context) -> Result<Report> {
    let wine = Wine::start(Some(context.cpu))?;
    complete(&wine)?;
    let mut rows = vec![Row::shown("under", wine.version().to_owned())];
    rows.extend(qt::rows(context, &wine)?);
    rows.extend(programs::rows(context, &wine)?);
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
    Ok(())
}
