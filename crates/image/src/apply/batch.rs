//! The new versions of all files of a set. None of them is seen before all are on the disk; where
//! one cannot be written, the files are as they were.

use super::ApplyError;
use super::allowed::Writers;
use super::atomic::{Parked, Unnamed, sync_folders};
use super::held::Held;
use super::undo::{Prepared, undo_beside};
use crate::Edited;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// New files and replacements of one set, by several threads, which get their names together.
#[derive(Debug)]
pub struct Batch {
    /// Whether the process may have all files open.
    open: bool,
    first: Mutex<Vec<New>>,
    new: Mutex<Vec<New>>,
    replacements: Mutex<Vec<Prepared>>,
    writers: Writers,
}

/// A file on the disk without its name.
#[derive(Debug)]
pub(super) enum Waiting {
    Open(Unnamed),
    Parked(Parked),
}

#[derive(Debug)]
struct New {
    path: PathBuf,
    file: Waiting,
}

impl Batch {
    /// For so many files. Where the process may not have as many open, they have hidden names
    /// meanwhile.
    pub fn for_files(files: usize) -> Batch {
        Batch {
            open: Held::room_for(files).is_some(),
            first: Mutex::default(),
            new: Mutex::default(),
            replacements: Mutex::default(),
            writers: Writers::default(),
        }
    }

    /// Writes a new file with these permissions; [`Batch::finish`] gives it its name.
    ///
    /// # Errors
    /// Its folder cannot be written to, or the disk is full.
    pub fn write_new<'a>(
        &self,
        path: &Path,
        pieces: impl Iterator<Item = &'a [u8]>,
        mode: u32,
    ) -> Result<(), ApplyError> {
        self.add(&self.new, path, pieces, mode)
    }

    /// As [`Batch::write_new`], for a file that must be there before any other.
    ///
    /// # Errors
    /// As [`Batch::write_new`].
    pub fn write_first(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), ApplyError> {
        self.add(&self.first, path, std::iter::once(content), mode)
    }

    fn add<'a>(
        &self,
        list: &Mutex<Vec<New>>,
        path: &Path,
        pieces: impl Iterator<Item = &'a [u8]>,
        mode: u32,
    ) -> Result<(), ApplyError> {
        let file = self.waiting(path, Unnamed::write(path, pieces, mode)?)?;
        let new = New { path: path.to_owned(), file };
        list.lock().unwrap_or_else(PoisonError::into_inner).push(new);
        Ok(())
    }

    fn waiting(&self, path: &Path, file: Unnamed) -> Result<Waiting, ApplyError> {
        Ok(if self.open { Waiting::Open(file) } else { Waiting::Parked(file.park(path)?) })
    }

    /// Writes the rewritten version of a file and its undo file; [`Batch::finish`] replaces it.
    ///
    /// # Errors
    /// As [`super::in_place`].
    pub fn replace(&self, path: &Path, edited: &Edited<'_>) -> Result<(), ApplyError> {
        let make = |real: &Path, file| self.waiting(real, file);
        let prepared = Prepared::of(path, edited, &self.writers, make)?;
        self.replacements.lock().unwrap_or_else(PoisonError::into_inner).push(prepared);
        Ok(())
    }

    /// Gives new files their names, and replaces the others.
    ///
    /// # Errors
    /// The system refuses, or there is a file of that name. What was done is taken back then; an
    /// error of its own names the files with which that failed.
    pub fn finish(self) -> Result<(), ApplyError> {
        let inner =
            |list: Mutex<Vec<New>>| list.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (mut new, rest) = (inner(self.first), inner(self.new));
        new.extend(rest);
        let replacements = self.replacements.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (mut named, mut replaced) = (Vec::new(), Vec::new());
        match finish(new, replacements, &mut named, &mut replaced) {
            Ok(()) => Ok(()),
            Err(error) => Err(take_back(error, &named, replaced)),
        }
    }
}

fn finish(
    new: Vec<New>,
    replacements: Vec<Prepared>,
    named: &mut Vec<PathBuf>,
    replaced: &mut Vec<PathBuf>,
) -> Result<(), ApplyError> {
    for New { path, file } in new {
        file.name(&path)?;
        named.push(path);
    }
    sync_folders(named.iter().map(PathBuf::as_path))?;
    for prepared in replacements {
        let real = prepared.real().to_owned();
        prepared.replace()?;
        replaced.push(real);
    }
    sync_folders(replaced.iter().map(PathBuf::as_path))
}

/// Restores what was replaced, and removes what is new.
pub(super) fn take_back(
    error: ApplyError,
    named: &[PathBuf],
    replaced: Vec<PathBuf>,
) -> ApplyError {
    // Looked at anew: the files that stand here now may have the numbers of files that others had
    // open before.
    let writers = Writers::default();
    let left: Vec<ApplyError> =
        replaced.iter().filter_map(|file| undo_beside(file, &writers).err()).collect();
    if !left.is_empty() {
        // New files may tell what the replaced ones mean.
        return ApplyError::Partly { reason: error.reason(), left };
    }
    let kept = named.iter().filter(|file| std::fs::remove_file(file).is_err());
    let kept: Vec<PathBuf> = kept.cloned().collect();
    if kept.is_empty() {
        return error;
    }
    ApplyError::LeftNew { reason: error.reason(), files: kept }
}

impl Waiting {
    fn name(self, path: &Path) -> Result<(), ApplyError> {
        match self {
            Waiting::Open(file) => file.name(path),
            Waiting::Parked(file) => file.name(path),
        }
    }

    pub(super) fn replace(self, path: &Path) -> Result<(), ApplyError> {
        match self {
            Waiting::Open(file) => file.replace(path),
            Waiting::Parked(file) => file.replace(path),
        }
    }
}
