//! The folder of a bundle while one process works there.

use crate::error::BundleError;
use std::fs::File;
use std::path::Path;
use tempfile::NamedTempFile;

/// What files are called that are not yet whole.
const PREFIX: &str = ".headstart-";

/// Keeps others out until it is dropped.
pub(crate) struct Workplace {
    _lock: Option<File>,
}

impl Workplace {
    /// Waits for those who are at work there, and removes what those have left who were killed.
    pub(crate) fn enter(folder: &Path) -> Workplace {
        // Some file systems have no locks; then nobody knows whether a file is still written to.
        let lock = File::open(folder).and_then(|folder| folder.lock().map(|()| folder)).ok();
        if lock.is_some() {
            clean(folder);
        }
        Workplace { _lock: lock }
    }
}

fn clean(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // What cannot be removed only takes space.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A file that is to get another name when it is whole.
pub(crate) fn temporary(folder: &Path) -> Result<NamedTempFile, BundleError> {
    let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder);
    file.map_err(|error| BundleError::io(folder, error))
}
