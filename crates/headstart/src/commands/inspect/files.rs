//! Which files are inspected: those named, and those in folders that are of a kind asked for.

use crate::find::{self, Found};
use image::identify::COMPRESSED;
use model::FileKind;
use rayon::prelude::*;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Enough of a compressed file for its first bytes.
const COMPRESSED_START: u64 = 4096;

/// Why a file or folder is left out.
pub type Errors = Vec<(PathBuf, String)>;

/// What is inspected in folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Images.
    Images,
    /// Images, and prefetch files of Windows.
    ImagesAndPrefetch,
}

/// Files as they were named, and for each folder those below it in order of their names.
pub fn expand(named: &[PathBuf], within: Within, errors: &mut Errors) -> Vec<PathBuf> {
    let found = find::find(named).into_par_iter().filter_map(|found| wanted(found, within));
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

/// Whether a file is inspected, or why that is not known; `None` for what is in a folder and of another
/// kind. What is wrong with a file that was named is found out by inspecting it.
fn wanted(found: Found, within: Within) -> Option<Result<PathBuf, (PathBuf, String)>> {
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
        FileKind::Prefetch if within == Within::ImagesAndPrefetch => Some(Ok(found.path)),
        FileKind::Archive
            if within == Within::ImagesAndPrefetch && identity.detail == COMPRESSED =>
        {
            is_prefetch(&found.path).then_some(Ok(found.path))
        }
        FileKind::Unreadable => {
            let why = format!("{}: {}; skipped", identity.path, identity.detail);
            Some(Err((found.path, why)))
        }
        _ => None,
    }
}

/// Whether what is compressed is a prefetch file; SuperFetch's databases lie beside them.
fn is_prefetch(path: &Path) -> bool {
    let bytes = std::fs::File::open(path).and_then(|file| {
        let mut start = Vec::new();
        file.take(COMPRESSED_START).read_to_end(&mut start)?;
        Ok(start)
    });
    bytes.is_ok_and(|bytes| prefetch::pf::begins_as_one(&bytes))
}
