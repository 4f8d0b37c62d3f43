//! Folders of carried files that no manifest names, as headstart was killed before it wrote one, or before it
//! removed what the former bundle carried.

use crate::write::content::Content;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Digits of each half of a copy's own name.
const DIGITS: usize = 8;

/// Removes a folder if there is nothing in it but copies that headstart made. It loses its name at once, and the
/// rest is that of a folder that is not whole.
pub(super) fn remove(place: &Path) {
    let hidden = hidden(place);
    if only_copies(place).is_ok_and(|ours| ours) && std::fs::rename(place, &hidden).is_ok() {
        let _ = std::fs::remove_dir_all(hidden);
    }
}

/// Name of a folder that is not whole.
pub(super) fn hidden(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default().display();
    place.with_file_name(format!(".{name}.next"))
}

/// Copies have names of their own, which tell their content, and those of the libraries, by which they have the same
/// content.
fn only_copies(place: &Path) -> io::Result<bool> {
    if !place.symlink_metadata()?.is_dir() {
        return Ok(false);
    }
    let (mut own, mut all) = (BTreeSet::new(), BTreeSet::new());
    for entry in place.read_dir()? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            return Ok(false);
        }
        let sha256 = Content::read(&entry.path())?.sha256;
        if entry.file_name().to_str().is_some_and(|name| is_own_name(name, &sha256)) {
            own.insert(sha256.clone());
        }
        all.insert(sha256);
    }
    Ok(own == all)
}

/// A name as [`super::choose`] gives them: a hash of the library's path, then of its content.
fn is_own_name(name: &str, sha256: &str) -> bool {
    let Some((path, content)) = name.split_once('-') else { return false };
    let is_hash = path.len() == DIGITS && path.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && content.len() == DIGITS && sha256.starts_with(content)
}
