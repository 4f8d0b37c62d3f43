//! The folder of carried files: written whole in another folder, named at once, and removed once no bundle uses it
//! any more.

use super::choose::{Carry, is_simple};
use super::{copy, left, unfinished};
use crate::error::{BundleAdvice, BundleError};
use crate::write::content::Content;
use files::{Permit, reasons};
use model::bundle::{BundleChange, BundleCheck, BundleManifest, CarriedFile, ChangeKind};
use model::text::{name, text};
use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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
    // What is not headstart's was refused before.
    let _ = unfinished::clear(folder);
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
    let written = unfinished::start(folder)
        .and_then(|fresh| write(carry, &fresh))
        .and_then(|()| unfinished::publish(folder, &place));
    if let Err(error) = written {
        // What is left of it is headstart's own.
        let _ = unfinished::clear(folder);
        return Err(BundleError::write(&place, error));
    }
    Ok(Placed { files, fresh: true })
}

/// Gives files that are written, and have no folder of their own yet, this one below `folder`.
pub(crate) fn named(
    files: Vec<CarriedFile>,
    own: &str,
    folder: &Path,
) -> Result<Placed, BundleError> {
    let place = folder.join(own);
    if place.symlink_metadata().is_err() {
        let named = unfinished::publish(folder, &place);
        // Whatever happened, nothing is to stay there.
        let _ = unfinished::clear(folder);
        named.map_err(|error| BundleError::write(&place, error))?;
        return Ok(Placed { files, fresh: true });
    }
    let _ = unfinished::clear(folder);
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
    let _ = unfinished::clear(folder);
    let old = before.map_or(&[][..], |before| &before.carried);
    let used = |place: &Path| now.iter().any(|file| place_of(folder, file) == place);
    for place in folders(folder).filter(|place| !used(place)) {
        left::remove(folder, &place, old);
    }
    let kept = |file: &CarriedFile| now.iter().any(|now| now.path == file.path);
    let old: Vec<CarriedFile> = old.iter().filter(|file| !kept(file)).cloned().collect();
    remove(folder, &old);
}

/// The folder of a carried file.
fn place_of(folder: &Path, file: &CarriedFile) -> PathBuf {
    let file = folder.join(name(&file.path));
    file.parent().unwrap_or(folder).to_owned()
}

/// Folders in `folder` that have names as those of carried files have.
fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |entry: &DirEntry| {
        let file = entry.file_name();
        let hash = file.to_str().and_then(|name| name.strip_prefix("lib-"));
        hash.is_some_and(is_hash) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    entries.filter(is_one).map(|entry| entry.path())
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
    places.iter().for_each(|place| left::remove(folder, place, carried));
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

/// Adds those, and gives how many of them are of merged plug-ins, if any are.
pub(crate) fn add_changed(
    folder: &Path,
    manifest: &BundleManifest,
    changes: &mut Vec<BundleChange>,
) -> Option<usize> {
    let carried = changed(folder, manifest);
    let merged = (manifest.check == BundleCheck::Host).then_some(carried.len());
    changes.extend(carried);
    merged.filter(|merged| *merged > 0)
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
