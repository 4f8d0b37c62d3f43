//! Rewriting in place, and taking it back.
//!
//! Beside the file stands another one with what was there before: the bytes that were replaced,
//! the old length, mode and time, and hashes of both versions. It is written first, so that there
//! is no moment at which the old bytes are not on the disk.

use crate::batch::WaitingFile;
use crate::before::{Before, Hash, damaged, hash};
use crate::content::Content;
use crate::folder::Folder;
use crate::host::lock::Unremovable;
use crate::host::permissions::{keep, mode, while_written};
use crate::lock::Locked;
use crate::new_file::NewFile;
use crate::policy::{self, Replaceable, Writers};
use crate::{Edited, MapError, Permit, Stamp, WriteAdvice, WriteError, map};
use sha2::{Digest, Sha256};
use std::fs::{File, FileTimes, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the name of an undo file ends with.
pub const UNDO: &str = ".headstart-undo";

/// Where the undo file of a file is.
pub fn undo_file(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(UNDO);
    path.with_file_name(name)
}

/// Replaces a file by its rewritten version, in one step; `FILE.headstart-undo` beside it can
/// restore it. Gives the path of that.
///
/// Only a regular file that the user owns, without privileges, with one name, outside of packages'
/// folders, and which nobody writes to.
///
/// # Errors
/// It is not such a file, has changed since it was read, was rewritten before, or the system
/// refuses; it is as before then.
pub fn in_place(path: &Path, edited: &Edited<'_>) -> Result<PathBuf, WriteError> {
    Replacement::prepare(path, edited)?.finish()
}

/// The rewritten version of a file, written and not yet in its place. Whoever has the file open or
/// mapped lets go of it before that, as Windows replaces no such file.
#[derive(Debug)]
pub struct Replacement {
    prepared: Prepared,
    _locked: Locked,
}

impl Replacement {
    /// Writes the new version and the undo file, which goes again with this value.
    ///
    /// # Errors
    /// As [`in_place`].
    pub fn prepare(path: &Path, edited: &Edited<'_>) -> Result<Replacement, WriteError> {
        let locked = Locked::folders_of([path], |_| {});
        let waiting = |file| Ok(WaitingFile::Open(file));
        let prepared = Prepared::of(path, edited, &Writers::default(), Folder::of, waiting)?;
        Ok(Replacement { prepared, _locked: locked })
    }

    /// Puts it in its place, as [`in_place`] does.
    ///
    /// # Errors
    /// As [`in_place`].
    pub fn finish(self) -> Result<PathBuf, WriteError> {
        let (folder, undo) = (self.prepared.folder.clone(), self.prepared.undo.clone());
        folder.sync()?;
        self.prepared.replace()?;
        folder.sync().map_err(WriteError::afterwards)?;
        Ok(undo)
    }
}

/// The rewritten version of a file, on the disk without a name, and its undo file. That goes with
/// this value where the file has not been replaced. Its folder is to be synced before that.
#[derive(Debug)]
pub(crate) struct Prepared {
    real: PathBuf,
    /// That of the original.
    stamp: Option<Stamp>,
    folder: Arc<Folder>,
    undo: PathBuf,
    new: Option<WaitingFile>,
    replaced: bool,
    /// Another run would take the undo file for one that a killed run has left.
    kept: Option<Unremovable>,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.kept = None;
        if !self.replaced {
            // An undo file of the original is harmless.
            let _ = self.folder.remove_file(&self.undo);
        }
    }
}

impl Prepared {
    /// Writes both; `folder` opens the folder of a file, `wait` says how the new version waits.
    pub(crate) fn of(
        path: &Path,
        edited: &Edited<'_>,
        writers: &Writers,
        folder: impl FnOnce(&Path) -> Result<Arc<Folder>, WriteError>,
        wait: impl FnOnce(NewFile) -> Result<WaitingFile, WriteError>,
    ) -> Result<Prepared, WriteError> {
        let Replaceable { real, data, stamp } = policy::file(path, writers)?;
        let content = Content::of(edited, &real);
        let undo = undo_file(&real);
        let bytes = before(&real, &data, edited, &content)?.to_bytes(&undo)?;
        let folder = folder(&real)?;
        let record = NewFile::create(&folder, &undo, Permit::Exactly(0o600))?;
        record.fill(|mut file| file.write_all(&bytes))?.synced()?.name()?;
        let kept = Unremovable::of(&folder.opened, undo.file_name().unwrap_or_default());
        let kept = Some(kept);
        let mut prepared = Prepared { real, stamp, folder, undo, new: None, replaced: false, kept };
        let real = &prepared.real;
        let mode = mode(&data);
        let permit = Permit::Exactly(while_written(mode));
        let new = NewFile::create(&prepared.folder, real, permit)?;
        let new = new.fill(|file| content.write(file));
        let new = match content.has_source() {
            true => content.unless_changed(real, new)?,
            false => new?,
        };
        keep_attributes(real, &new, &data, mode)?;
        prepared.folder.still_has(real, stamp)?;
        prepared.new = Some(wait(new)?);
        Ok(prepared)
    }

    /// The file itself, links followed.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// Puts the new version in its place, which still has the original.
    pub(crate) fn replace(mut self) -> Result<(), WriteError> {
        if let Some(new) = self.new.take() {
            self.folder.still_has(&self.real, self.stamp)?;
            new.replace()?;
            self.replaced = true;
        }
        Ok(())
    }
}

/// What is in the file before it is replaced.
fn before(
    real: &Path,
    data: &Metadata,
    edited: &Edited<'_>,
    content: &Content<'_>,
) -> Result<Before, WriteError> {
    let old = hash_of(real)?;
    // The very file that is mapped has the same bytes.
    if !content.has_source() && hash(std::iter::once(edited.original())) != old {
        return Err(WriteError::changed_meanwhile(real));
    }
    make_way(real, &undo_file(real), &old)?;
    let replaced = edited.differences().into_iter().filter_map(|range| {
        let bytes = edited.original().get(range.start as usize..range.end as usize)?;
        Some((range.start, bytes.to_vec()))
    });
    Ok(Before {
        length: edited.original().len() as u64,
        mode: mode(data),
        modified: data.modified().map_err(WriteError::io(real, "looking at it"))?,
        old,
        new: hash_all(content, real)?,
        replaced: replaced.collect(),
    })
}

/// Removes an undo file that a run left which was killed before it replaced anything.
fn make_way(real: &Path, undo: &Path, old: &Hash) -> Result<(), WriteError> {
    if undo.symlink_metadata().is_err() {
        return Ok(());
    }
    let before = Before::read(undo)?;
    if before.old != *old {
        let reason = format!("it was rewritten before ({})", undo.display());
        return Err(WriteError::advised(real, reason, WriteAdvice::UndoFirst));
    }
    std::fs::remove_file(undo).map_err(WriteError::io(undo, "removing it"))
}

/// What the file has besides its bytes stays the same.
fn keep_attributes(
    real: &Path,
    new: &NewFile,
    data: &Metadata,
    mode: u32,
) -> Result<(), WriteError> {
    keep(real, &new.file, &new.path(), data, mode)
        .map_err(WriteError::io(real, "keeping its group and attributes"))
}

/// Restores a file that [`in_place`] has rewritten: its bytes, mode and time of modification. One
/// that is the original already only loses its undo file.
///
/// # Errors
/// There is no undo file, the file is not what was written, or the system refuses; both are as
/// before then.
pub fn undo(path: &Path) -> Result<(), WriteError> {
    let _locked = Locked::folders_of([path], |_| {});
    undo_beside(path, &Writers::default())
}

/// As [`undo`], for one of many files.
///
/// # Errors
/// As [`undo`].
pub fn undo_beside(path: &Path, writers: &Writers) -> Result<(), WriteError> {
    let Replaceable { real, data, stamp } = policy::file(path, writers)?;
    let undo = undo_file(&real);
    if undo.symlink_metadata().is_err() {
        let reason = format!(
            "it has no undo file ({}): headstart has not replaced it, or it is restored already",
            undo.display()
        );
        return Err(WriteError::refused(&real, reason));
    }
    let before = Before::read(&undo)?;
    let folder = Folder::of(&real)?;
    // Windows replaces no file that is open or mapped, so that nothing of it is left here.
    let restored = restored(&Replaceable { real: real.clone(), data, stamp }, &folder, &before)?;
    let forget = || {
        folder.remove_file(&undo)?;
        folder.sync()
    };
    let Some(new) = restored else { return forget() };
    folder.still_has(&real, stamp)?;
    new.replace()?.sync()?;
    forget().map_err(WriteError::afterwards)
}

/// The original of a file, on the disk without its name; `None` where the file is the original: a run
/// was killed before it replaced it, or somebody has put it back.
fn restored(
    file: &Replaceable,
    folder: &Arc<Folder>,
    before: &Before,
) -> Result<Option<NewFile>, WriteError> {
    let real = &file.real;
    let failed = |error| match error {
        MapError::Io(source) => WriteError::io(real, "reading it")(source),
        MapError::NotAFile(found) => WriteError::refused(real, format!("it is {found}")),
    };
    let mapped = map(real).map_err(failed)?;
    let bytes = mapped.as_ref().map_or(&[][..], |(_, bytes)| bytes);
    let present = hash_of(real)?;
    // What is written and removed is in the folder that was opened.
    folder.still_has(real, file.stamp)?;
    if present == before.old {
        return Ok(None);
    }
    let changed = "it is not what was written here: somebody has changed it since";
    if present != before.new {
        return Err(WriteError::refused(real, changed));
    }
    let damaged = || damaged(&undo_file(real));
    let restored = before.restore(bytes, file.stamp).ok_or_else(damaged)?;
    let content = Content::of(&restored, real);
    if hash_all(&content, real)? != before.old {
        return Err(damaged());
    }
    let permit = Permit::Exactly(while_written(before.mode));
    let new = NewFile::create(folder, real, permit)?.fill(|file| content.write(file))?;
    keep_attributes(real, &new, &file.data, before.mode)?;
    let times = FileTimes::new().set_modified(before.modified);
    new.file.set_times(times).map_err(WriteError::io(real, "setting its time"))?;
    Ok(Some(new))
}

fn hash_all(content: &Content<'_>, path: &Path) -> Result<Hash, WriteError> {
    let mut hash = Sha256::new();
    let read = content.read(&mut |bytes| hash.update(bytes));
    read.map_err(WriteError::io(path, "reading it"))?;
    Ok(hash.finalize().into())
}

fn hash_of(path: &Path) -> Result<Hash, WriteError> {
    let failed = WriteError::io(path, "reading it");
    let mut file = File::open(path).map_err(&failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).map_err(&failed)? {
            0 => return Ok(hash.finalize().into()),
            size => hash.update(buffer.get(..size).unwrap_or(&[])),
        }
    }
}
