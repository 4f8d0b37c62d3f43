//! The folder of an experiment.

use crate::exit::FileError;
use anyhow::Result;
use std::path::Path;

/// Makes the folder of `--save`, which is to be a new one.
pub fn new_folder(folder: &Path) -> Result<()> {
    Ok(std::fs::create_dir(folder).map_err(|source| FileError {
        path: folder.display().to_string(),
        source,
        remedy: "name a new folder in one that exists and may be written to",
    })?)
}
