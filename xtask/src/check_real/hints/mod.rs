//! What looking imports up costs under Wine, and what hints and ordinals save of it; and hints,
//! binding and ordinals on every real PE file at hand.

mod times;
mod wild;

use super::Context;
use super::report::Report;
use anyhow::Result;

/// Times of generated programs under Wine, then counts of real files.
///
/// # Errors
/// Wine does not work, a package cannot be downloaded, or headstart fails.
pub fn check(context: &Context) -> Result<Report> {
    let mut rows = times::rows(context)?;
    rows.extend(wild::rows()?);
    Ok(Report { rows })
}
