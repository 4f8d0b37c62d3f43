//! What looking imports up costs under Wine, and what hints and ordinals save of it; and hints,
//! binding and ordinals on every real PE file at hand.

mod launch_times;
mod real_files;

use crate::context::Context;
use crate::report::Report;
use anyhow::Result;

/// Times of generated programs under Wine, then counts of real files.
///
/// # Errors
/// Wine does not work, a package cannot be downloaded, or headstart fails.
pub fn check(context: &Context) -> Result<Report> {
    let mut rows = launch_times::rows(context)?;
    rows.extend(real_files::rows()?);
    Ok(Report { rows })
}
