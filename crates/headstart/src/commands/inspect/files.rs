//! Which files are inspected: those named, and the images in folders.

use crate::find::{self, Found};
use model::FileKind;
use rayon::prelude::*;
use std::path::PathBuf;

/// Why a file or folder is left out.
pub type Errors = Vec<(PathBuf, String)>;

/// Files as they were named, and for each folder the images below it in order of their names.
pub fn expand(named: &[PathBuf], errors: &mut Errors) -> Vec<PathBuf> {
    let found = find::find(named).into_par_iter().filter_map(wanted);
    let found: Vec<Result<PathBuf, (PathBuf, String)>> = found.collect();
    let mut files = Vec::new();
    for found in found {
        match found {
            Ok(file) => files.push(file),
            Err(error) => errors.push(error),
        }
    }
    files
}

/// Whether a file is inspected, or why that is not known; `None` for what is in a folder and is no
/// image. What is wrong with a file that was named is found out by inspecting it.
fn wanted(found: Found) -> Option<Result<PathBuf, (PathBuf, String)>> {
    if found.named {
        return Some(Ok(found.path));
    }
    let is_file = match &found.kind {
        Ok(kind) => kind.is_file(),
        Err(_) => true,
    };
    let identity = is_file.then(|| found.identify())?;
    match identity.kind {
        FileKind::Elf | FileKind::Pe => Some(Ok(found.path)),
        FileKind::Unreadable => {
            let why = format!("{}: {}; skipped", identity.path, identity.detail);
            Some(Err((found.path, why)))
        }
        _ => None,
    }
}
