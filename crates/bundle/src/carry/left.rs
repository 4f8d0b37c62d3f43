//! Which folders beside a bundle headstart has made: those of files that a manifest names, and those that no manifest
//! names, as headstart was killed before it wrote one, or before it removed what the former bundle had.

use super::unfinished;
use crate::write::content::{self, Content};
use model::bundle::CarriedFile;
use model::text::name;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Digits of each half of a copy's own name.
const DIGITS: usize = 8;

/// Removes a folder in `folder` if there is nothing in it but files that headstart made. It loses its name at once.
pub(super) fn remove(folder: &Path, place: &Path, known: &[CarriedFile]) {
    if is_ours(folder, place, known).is_ok_and(|ours| ours) {
        // What is left of it goes when the next bundle is made.
        let _ = unfinished::discard(folder, place);
    }
}

/// Name of a folder with these files, which have no other names: it follows from what is in them.
pub(crate) fn folder_of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let sorted: BTreeMap<&str, &str> = files.into_iter().collect();
    let described: String =
        sorted.iter().map(|(name, sha256)| format!("{name} {sha256}\n")).collect();
    format!("lib-{:.12}", content::hash(described.as_bytes()))
}

/// All are as a manifest says; or the folder's name tells what is in it; or these are copies, which have names of
/// their own, that tell their content, and those of the libraries, by which they have the same content.
fn is_ours(folder: &Path, place: &Path, known: &[CarriedFile]) -> io::Result<bool> {
    if !place.symlink_metadata()?.is_dir() {
        return Ok(false);
    }
    let (mut own, mut all) = (BTreeSet::new(), BTreeSet::new());
    let (mut named, mut are_known, mut is_text) = (BTreeMap::new(), true, true);
    for entry in place.read_dir()? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            return Ok(false);
        }
        let Content { bytes, sha256 } = Content::read(&entry.path())?;
        are_known &= known.iter().any(|file| {
            (file.bytes, &file.sha256) == (bytes, &sha256)
                && folder.join(name(&file.path)) == entry.path()
        });
        let name = entry.file_name();
        let name = name.to_str();
        is_text &= name.is_some();
        if name.is_some_and(|name| is_own_name(name, &sha256)) {
            own.insert(sha256.clone());
        }
        named.extend(name.map(|name| (name.to_owned(), sha256.clone())));
        all.insert(sha256);
    }
    let files = named.iter().map(|(name, sha256)| (name.as_str(), sha256.as_str()));
    let is_named =
        || is_text && place.file_name().is_some_and(|it| it == folder_of(files).as_str());
    Ok(are_known || own == all || is_named())
}

/// A name as [`super::choose`] gives them: a hash of the library's path, then of its content.
fn is_own_name(name: &str, sha256: &str) -> bool {
    let Some((path, content)) = name.split_once('-') else { return false };
    let is_hash = path.len() == DIGITS && path.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && content.len() == DIGITS && sha256.starts_with(content)
}
