//! The folder of an experiment.

use crate::exit::FileError;
use anyhow::Result;
use std::path::Path;

/// Creates the folder of `--save`, which must not exist yet.
pub fn new_folder(folder: &Path) -> Result<()> {
    Ok(std::fs::create_dir(folder).map_err(|source| FileError {
        path: folder.display().to_string(),
        source,
        remedy: "name a new folder inside an existing folder that is writable",
    })?)
}
