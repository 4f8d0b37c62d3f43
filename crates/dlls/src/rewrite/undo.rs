//! Rewriting taken back, for files that were replaced.

use super::Watcher;
use super::folders::lock;
use crate::RewriteError;
use crate::ordinal::beside;
use files::WriteError;
use rayon::prelude::*;
use std::path::PathBuf;

/// What became of files that were to be restored.
#[derive(Debug)]
pub struct Restored {
    /// Files that are as they were.
    pub files: Vec<PathBuf>,
    /// Why the others are not.
    pub failed: Vec<WriteError>,
    /// Records of imports by ordinal that stay beside the files, as they still tell of some; or why
    /// one that tells of none is not removed.
    pub kept: Result<Vec<KeptRecord>, RewriteError>,
}

/// A record of imports by ordinal that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecord {
    /// The record.
    pub path: PathBuf,
    /// Functions that files beside it import by ordinal; 0 where a file that it lists is missing or
    /// has changed.
    pub functions: u64,
}

/// Restores files that were replaced. Those of a set that had not to be changed have nothing to be
/// restored, and are passed over where others have.
pub fn undo(files: &[PathBuf], watcher: &dyn Watcher) -> Restored {
    // A run under way has yet to write undo files.
    let _locked = lock(files, watcher);
    let rewritten = |file: &&PathBuf| {
        let real = files::real_path(file).unwrap_or_else(|_| (*file).clone());
        files::undo_file(&real).symlink_metadata().is_ok()
    };
    let mut to_restore: Vec<&PathBuf> = files.iter().filter(rewritten).collect();
    if to_restore.is_empty() {
        // Any of them says that there is nothing to be restored.
        to_restore = files.iter().take(1).collect();
    }
    let writers = files::Writers::default();
    let undone: Vec<_> =
        to_restore.par_iter().map(|file| (*file, files::undo_beside(file, &writers))).collect();
    let (mut restored, mut failed) = (Vec::new(), Vec::new());
    for (file, undone) in undone {
        match undone {
            Ok(()) => restored.push(file.clone()),
            Err(error) => failed.push(error),
        }
    }
    Restored { files: restored, failed, kept: beside::forget(files) }
}
