//! The folder of carried files: written whole under another name, named at once, and removed once no bundle
//! uses it any more.

use super::choose::{Carry, is_simple};
use super::{copy, left};
use crate::error::{BundleAdvice, BundleError};
use crate::write::content::Content;
use files::{Permit, reasons};
use model::bundle::{BundleChange, BundleManifest, CarriedFile, ChangeKind};
use model::text::{name, text};
use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A folder of files of which the names are not known yet.
pub(crate) const UNNAMED: &str = ".lib-000000000000.next";

/// Files that are in their place below a bundle's folder.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    pub(crate) files: Vec<CarriedFile>,
    /// They were put there now, and not by an earlier headstart.
    fresh: bool,
}

impl Placed {
    /// Takes them away again, where no bundle came of it.
    pub(crate) fn withdraw(self, folder: &Path) {
        if self.fresh {
            remove(folder, &self.files);
        }
    }
}

/// Puts the files into their folder below `folder`, where they are not there yet. What is there stays until a
/// bundle is named that does not use it.
pub(crate) fn placed(carry: &Carry, folder: &Path) -> Result<Placed, BundleError> {
    let described = carry.files.iter().flat_map(|file| {
        file.names.iter().map(|name| CarriedFile {
            path: format!("{}/{name}", carry.folder),
            from: text(&file.from),
            bytes: file.content.bytes,
            sha256: file.content.sha256.clone(),
        })
    });
    let files: Vec<CarriedFile> = described.collect();
    let place = folder.join(&carry.folder);
    remove_interrupted(folder);
    if files.is_empty() {
        return Ok(Placed::default());
    }
    if let Ok(data) = place.symlink_metadata() {
        let is_whole = || changes(folder, &files).is_empty();
        return match data.is_dir() && is_whole() {
            true => Ok(Placed { files, fresh: false }),
            false => Err(BundleError::Occupied {
                found: "exists, but is not as headstart left it".to_owned(),
                path: place,
                advice: BundleAdvice::MoveAway,
            }),
        };
    }
    let fresh = left::hidden(&place);
    let written = write(carry, &fresh).and_then(|()| std::fs::rename(&fresh, &place));
    if let Err(error) = written {
        // What is left of it is headstart's own.
        let _ = std::fs::remove_dir_all(&fresh);
        return Err(BundleError::write(&place, error));
    }
    files::sync_folder_of(&place).map_err(|error| BundleError::write(&place, error.into()))?;
    Ok(Placed { files, fresh: true })
}

/// Gives files that are written their folder below `folder`: so far they are in the folder [`UNNAMED`].
pub(crate) fn named(
    files: Vec<CarriedFile>,
    own: &str,
    folder: &Path,
) -> Result<Placed, BundleError> {
    let (fresh, place) = (folder.join(UNNAMED), folder.join(own));
    if place.symlink_metadata().is_err() {
        let renamed =
            std::fs::rename(&fresh, &place).and_then(|()| Ok(files::sync_folder_of(&place)?));
        return match renamed {
            Ok(()) => Ok(Placed { files, fresh: true }),
            Err(error) => Err(BundleError::write(&place, error)),
        };
    }
    let _ = std::fs::remove_dir_all(&fresh);
    match place.symlink_metadata().is_ok_and(|data| data.is_dir())
        && changes(folder, &files).is_empty()
    {
        true => Ok(Placed { files, fresh: false }),
        false => Err(BundleError::Occupied {
            found: "exists, but is not as headstart left it".to_owned(),
            path: place,
            advice: BundleAdvice::MoveAway,
        }),
    }
}

fn write(carry: &Carry, fresh: &Path) -> io::Result<()> {
    // A headstart that was killed may have left it.
    if fresh.symlink_metadata().is_ok() {
        std::fs::remove_dir_all(fresh)?;
    }
    std::fs::create_dir(fresh)?;
    for file in &carry.files {
        let bytes = copy::of(&file.from)?;
        if Content::of(&bytes) != file.content {
            return Err(io::Error::other(format!(
                "{} has changed in the meantime",
                file.from.display()
            )));
        }
        let Some((own, others)) = file.names.split_first() else { continue };
        let path = fresh.join(own);
        // Who may not read the library may not read the copy.
        let mode = file.from.metadata()?.permissions().mode() & 0o755;
        files::write_over(&path, &bytes, Permit::Exactly(mode)).map_err(io::Error::from)?;
        for other in others {
            let other = fresh.join(name(other));
            std::fs::hard_link(&path, &other)
                .or_else(|_| std::fs::copy(&path, &other).map(drop))?;
        }
    }
    Ok(())
}

/// Removes the files of a bundle that is replaced, unless the new one carries them, and what a headstart that was
/// killed has left. The bundle's folder is locked.
pub(crate) fn remove_old(folder: &Path, before: Option<&BundleManifest>, now: &[CarriedFile]) {
    remove_interrupted(folder);
    let used = |place: &Path| now.iter().any(|file| place_of(folder, file) == place);
    for place in folders_like(folder, "lib-", "").filter(|place| !used(place)) {
        left::remove(&place);
    }
    let old = before.map_or(&[][..], |before| &before.carried);
    let kept = |file: &CarriedFile| now.iter().any(|now| now.path == file.path);
    let old: Vec<CarriedFile> = old.iter().filter(|file| !kept(file)).cloned().collect();
    remove(folder, &old);
}

/// The folder of a carried file.
fn place_of(folder: &Path, file: &CarriedFile) -> PathBuf {
    let file = folder.join(name(&file.path));
    file.parent().unwrap_or(folder).to_owned()
}

/// Folders that were not yet whole when headstart was killed.
fn remove_interrupted(folder: &Path) {
    for place in folders_like(folder, ".lib-", ".next") {
        let _ = std::fs::remove_dir_all(place);
    }
}

/// Folders in `folder` of which the names are a hash between these.
fn folders_like(folder: &Path, before: &str, behind: &str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_like = move |entry: &DirEntry| {
        let file = entry.file_name();
        let hash = file.to_str().and_then(|name| name.strip_prefix(before)?.strip_suffix(behind));
        hash.is_some_and(is_hash) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    entries.filter(is_like).map(|entry| entry.path())
}

/// Whether a manifest may name this path: a file of a folder that headstart made.
pub(crate) fn is_ours(path: &str) -> bool {
    let parts = path.split_once('/');
    parts.is_some_and(|(folder, name)| {
        folder.strip_prefix("lib-").is_some_and(is_hash) && is_simple(name)
    })
}

fn is_hash(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn remove(folder: &Path, carried: &[CarriedFile]) {
    let places: BTreeSet<PathBuf> = carried.iter().map(|file| place_of(folder, file)).collect();
    places.iter().for_each(|place| left::remove(place));
    // In others there is something that was changed, or put there.
    let within = |file: &&CarriedFile| {
        let data = place_of(folder, file).symlink_metadata();
        is_ours(&file.path) && data.is_ok_and(|data| data.is_dir())
    };
    let carried = carried.iter().filter(within).filter(|file| change(folder, file).is_none());
    for file in carried {
        let _ = std::fs::remove_file(folder.join(name(&file.path)));
    }
    for place in places {
        let _ = std::fs::remove_dir(place);
    }
}

/// Which of them are not as they were left, and what was put beside them, where the loader looks first.
pub(crate) fn changed(folder: &Path, manifest: &BundleManifest) -> Vec<BundleChange> {
    changes(folder, &manifest.carried)
}

fn changes(folder: &Path, files: &[CarriedFile]) -> Vec<BundleChange> {
    let mut changes: Vec<_> = files.iter().filter_map(|file| change(folder, file)).collect();
    let known: BTreeSet<PathBuf> = files.iter().map(|file| folder.join(name(&file.path))).collect();
    let places: BTreeSet<PathBuf> = files.iter().map(|file| place_of(folder, file)).collect();
    let entries = places.iter().filter_map(|place| place.read_dir().ok()).flatten().flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| !known.contains(path)) {
        let found = "headstart did not put it there".to_owned();
        changes.push(BundleChange { path: text(&path), what: ChangeKind::Changed, found });
    }
    changes
}

fn change(folder: &Path, file: &CarriedFile) -> Option<BundleChange> {
    let path: PathBuf = folder.join(name(&file.path));
    let (what, found) = match Content::read(&path) {
        Ok(now) if now.sha256 == file.sha256 => return None,
        Ok(_) => (ChangeKind::Changed, "its content is different".to_owned()),
        Err(error) => (crate::prove::sources::unread(&error), reasons::unread(&path, &error)),
    };
    Some(BundleChange { path: text(&path), what, found })
}
