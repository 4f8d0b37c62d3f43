//! The folder of a bundle while one process works there.

use files::Lock;
use std::fs::File;
use std::path::Path;

/// Keeps others out until it is dropped.
pub(crate) struct Workplace {
    _lock: Option<Lock>,
}

impl Workplace {
    /// Waits for those who are at work there.
    pub(crate) fn enter(folder: &Path) -> Workplace {
        // Some file systems have no locks.
        Workplace { _lock: File::open(folder).and_then(Lock::wait).ok() }
    }
}

/// Waits until nobody changes what is in the folder, and keeps it so until the lock is dropped.
/// None where the file system has no locks.
pub(crate) fn look(folder: &Path) -> Option<Lock> {
    File::open(folder).and_then(Lock::shared).ok()
}
