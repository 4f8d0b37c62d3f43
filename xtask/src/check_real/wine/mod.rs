//! Rewritten PE files under Wine's own loader: they do what they did, and sooner.
//!
//! All times are Wine's, with a server that stays, everything on one CPU. Nothing here shows how
//! fast Windows is.

mod launches;
mod memory;
mod programs;
mod qt;
mod sets;
mod workload;

use super::Context;
use super::report::{Report, Row};
use anyhow::Result;
use os::wine::Wine;

/// Qt's DLLs loaded in turns, programs, and generated workloads that call every import.
///
/// # Errors
/// Wine does not work, a package cannot be downloaded, or headstart fails.
pub fn check(context: &Context) -> Result<Report> {
    let wine = Wine::start(Some(context.cpu))?;
    let mut rows = vec![Row::shown("under", wine.version().to_owned())];
    rows.extend(qt::rows(context, &wine)?);
    rows.extend(programs::rows(context, &wine)?);
    rows.extend(workload::rows(context, &wine)?);
    wine.check()?;
    Ok(Report { rows })
}
