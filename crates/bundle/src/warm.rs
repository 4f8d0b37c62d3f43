//! A bundle's file in large pages of memory.
//!
//! The kernel maps such a page at once where addresses and places in the file are the same modulo its size, as
//! they are of all modules of a bundle. What is written gets into memory in smaller pieces; a file that is read
//! through a mapping that asks for large pages does not.

use crate::error::BundleError;
use crate::make::RUN;
use crate::write::manifest;
use model::LargePages;
use os::large_pages;
use std::path::Path;

/// Reads the bundle in `folder` into memory in large pages, once more where it is there otherwise. It does not
/// change, and can be started all the time. A folder of headstart optimize is one, too.
///
/// # Errors
/// There is no bundle, or it cannot be read.
pub fn warm(folder: &Path) -> Result<LargePages, BundleError> {
    let run = run(folder)?;
    large_pages::read_in(&run).map_err(|error| BundleError::io(&run, error))
}

/// A bundle that has just been written. Where it cannot be read so, it is as right as before.
pub(crate) fn after_writing(run: &Path) {
    let _ = large_pages::read_in(run);
}

/// The file of the bundle in a folder.
fn run(folder: &Path) -> Result<std::path::PathBuf, BundleError> {
    let folder = manifest::own_folder(folder);
    manifest::read(&folder)?;
    Ok(folder.join(RUN))
}
