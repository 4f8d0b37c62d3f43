//! The record of imports by ordinal beside a set: carried along with the files that it tells of,
//! and removed with the last of them that is restored.

use super::{RECORD, Record, verify};
use crate::RewriteError;
use crate::rewrite::{KeptRecord, RewriteRequest};
use files::{WriteError, folder_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders of files.
fn folders(files: &[PathBuf]) -> BTreeSet<&Path> {
    files.iter().map(|file| folder_of(file)).collect()
}

/// The records beside the files.
pub(crate) fn records(files: &[PathBuf]) -> Result<Vec<Record>, RewriteError> {
    let paths = folders(files).into_iter().map(|folder| folder.join(RECORD));
    let present = paths.filter(|path| path.symlink_metadata().is_ok());
    present.map(|path| Record::read(&path).map_err(RewriteError::Record)).collect()
}

/// Where results go to another folder: the record that goes there, and its text.
pub(crate) fn carried(request: &RewriteRequest) -> Result<Option<(PathBuf, String)>, RewriteError> {
    let Some(folder) = request.folder().filter(|_| !request.is_dry_run()) else { return Ok(None) };
    let Some(record) = Record::carried(&records(&request.files)?, &request.files) else {
        return Ok(None);
    };
    let path = folder.join(RECORD);
    if path.symlink_metadata().is_ok() {
        return Err(WriteError::Exists(path).into());
    }
    let text = record.to_json();
    Ok(Some((path, text)))
}

/// Removes the records beside files that were restored. One stays where a file of its set still
/// imports by ordinal what it tells of, and a file that is no record stays too.
pub(crate) fn forget(files: &[PathBuf]) -> Result<Vec<KeptRecord>, RewriteError> {
    let mut kept = Vec::new();
    for folder in folders(files) {
        let path = folder.join(RECORD);
        let Ok(found) = verify(folder) else { continue };
        let functions = found.functions + found.unrecorded;
        if functions > 0 || !found.mismatches.is_empty() {
            kept.push(KeptRecord { path, functions });
            continue;
        }
        std::fs::remove_file(&path).map_err(|source| RewriteError::Io {
            path,
            source,
            remedy: "the files are restored; remove it by hand",
        })?;
    }
    Ok(kept)
}
