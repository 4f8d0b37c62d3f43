//! The folder of a bundle while one process works there.

use crate::error::BundleError;
use files::Lock;
use std::fs::File;
use std::path::Path;
use tempfile::NamedTempFile;

/// What files are called that are not yet whole: this, six letters or digits, and the ending.
const PREFIX: &str = ".headstart-";
const RANDOM: usize = 6;
const SUFFIX: &str = ".partial";

/// Keeps others out until it is dropped.
pub(crate) struct Workplace {
    _lock: Option<Lock>,
}

impl Workplace {
    /// Waits for those who are at work there, and removes what those have left who were killed.
    pub(crate) fn enter(folder: &Path) -> Workplace {
        // Some file systems have no locks; then nobody knows whether a file is still written to.
        let lock = File::open(folder).and_then(Lock::wait).ok();
        if lock.is_some() {
            clean(folder);
        }
        Workplace { _lock: lock }
    }
}

/// Waits until nobody changes what is in the folder, and keeps it so until the lock is dropped.
/// None where the file system has no locks.
pub(crate) fn look(folder: &Path) -> Option<Lock> {
    File::open(folder).and_then(Lock::shared).ok()
}

fn clean(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let ours = is_temporary(entry.file_name().as_encoded_bytes());
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // What cannot be removed only takes space.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(name: &[u8]) -> bool {
    let random = name.strip_prefix(PREFIX.as_bytes());
    let random = random.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    random.is_some_and(|it| it.len() == RANDOM && it.iter().all(u8::is_ascii_alphanumeric))
}

/// A file that is to get another name when it is whole.
pub(crate) fn temporary(folder: &Path) -> Result<NamedTempFile, BundleError> {
    temporary_names().tempfile_in(folder).map_err(|error| BundleError::write(folder, error))
}

/// Makes files with such names.
pub(crate) fn temporary_names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM).suffix(SUFFIX);
    builder
}
