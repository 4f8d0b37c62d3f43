//! The new versions of all files of a set. None of them is seen before all are on the disk; where
//! one cannot be written, the files are as they were.

use crate::folder::{Folder, Target, folder_of};
use crate::host::descriptors::room_for;
use crate::new_file::{NewFile, ParkedFile, write_all};
use crate::policy::Writers;
use crate::undo::{Prepared, undo_beside};
use crate::{Edited, Permit, WriteError};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Descriptors that are used for other things meanwhile.
const OTHERS: u64 = 128;
/// A file system that answers sooner has nothing to wait for.
const AT_ONCE: Duration = Duration::from_micros(50);
/// Files that wait for the disk together share the commits of its journal.
const WAITING: usize = 64;

/// New files and replacements of one set, by several threads, which get their names together.
#[derive(Debug)]
pub struct Batch {
    /// Whether the process may have all files open.
    open: bool,
    /// Each is opened and synced once.
    folders: Mutex<BTreeMap<PathBuf, Arc<Folder>>>,
    first: Mutex<Vec<WaitingFile>>,
    new: Mutex<Vec<WaitingFile>>,
    replacements: Mutex<Vec<Prepared>>,
    last: Mutex<Vec<WaitingFile>>,
    writers: Writers,
}

/// A file without its name.
#[derive(Debug)]
pub(crate) enum WaitingFile {
    Open(NewFile),
    /// It is on the disk.
    Parked(ParkedFile),
}

impl WaitingFile {
    fn name(self) -> Result<Target, WriteError> {
        match self {
            WaitingFile::Open(file) => file.name(),
            WaitingFile::Parked(file) => file.name(),
        }
    }

    pub(crate) fn replace(self) -> Result<Target, WriteError> {
        match self {
            WaitingFile::Open(file) => file.replace(),
            WaitingFile::Parked(file) => file.replace(),
        }
    }
}

impl Batch {
    /// For so many files. Where the process may not have as many open, they have hidden names
    /// meanwhile. It costs least before the process has other threads.
    pub fn for_files(files: usize) -> Batch {
        Batch {
            open: room_for((files as u64).saturating_add(OTHERS)),
            folders: Mutex::default(),
            first: Mutex::default(),
            new: Mutex::default(),
            replacements: Mutex::default(),
            last: Mutex::default(),
            writers: Writers::default(),
        }
    }

    /// Writes a new file with exactly these permissions; [`Batch::finish`] gives it its name.
    ///
    /// # Errors
    /// Its folder cannot be written to, or the disk is full.
    pub fn write_new<'a>(
        &self,
        path: &Path,
        pieces: impl Iterator<Item = &'a [u8]>,
        mode: u32,
    ) -> Result<(), WriteError> {
        self.add(&self.new, path, pieces, Permit::Exactly(mode))
    }

    /// As [`Batch::write_new`], for a file that must be there before any other.
    ///
    /// # Errors
    /// As [`Batch::write_new`].
    pub fn write_first(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), WriteError> {
        self.add(&self.first, path, std::iter::once(content), Permit::Exactly(mode))
    }

    /// Writes a file of headstart's own, as [`crate::write_over`] does; it is there, or replaced,
    /// after all others.
    ///
    /// # Errors
    /// As [`Batch::write_new`].
    pub fn write_last(
        &self,
        path: &Path,
        content: &[u8],
        permit: Permit,
    ) -> Result<(), WriteError> {
        let permit = Permit::of_present(path, permit);
        self.add(&self.last, path, std::iter::once(content), permit)
    }

    fn add<'a>(
        &self,
        list: &Mutex<Vec<WaitingFile>>,
        path: &Path,
        pieces: impl Iterator<Item = &'a [u8]>,
        permit: Permit,
    ) -> Result<(), WriteError> {
        let new = NewFile::create(&self.folder(path)?, path, permit)?;
        let new = new.fill(|file| write_all(file, pieces))?;
        let file = match self.open {
            true => WaitingFile::Open(new),
            false => WaitingFile::Parked(new.synced()?.park()?),
        };
        list.lock().unwrap_or_else(PoisonError::into_inner).push(file);
        Ok(())
    }

    fn folder(&self, file: &Path) -> Result<Arc<Folder>, WriteError> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let path = folder_of(file);
        if let Some(folder) = folders.get(path) {
            return Ok(folder.clone());
        }
        let folder = Folder::of(file)?;
        folders.insert(path.to_owned(), folder.clone());
        Ok(folder)
    }

    /// Writes the rewritten version of a file and its undo file; [`Batch::finish`] replaces it.
    ///
    /// # Errors
    /// As [`crate::in_place`].
    pub fn replace(&self, path: &Path, edited: &Edited<'_>) -> Result<(), WriteError> {
        let waiting = |file: NewFile| match self.open {
            true => Ok(WaitingFile::Open(file)),
            false => file.park().map(WaitingFile::Parked),
        };
        let prepared =
            Prepared::of(path, edited, &self.writers, |real| self.folder(real), waiting)?;
        self.replacements.lock().unwrap_or_else(PoisonError::into_inner).push(prepared);
        Ok(())
    }

    /// Puts new files on the disk, gives them their names, and replaces the others.
    ///
    /// # Errors
    /// The system refuses, or there is a file of that name. What was done is taken back then; an
    /// error of its own names the files with which that failed.
    pub fn finish(self) -> Result<(), WriteError> {
        let (named, replaced) = (Mutex::default(), Mutex::default());
        let done = self.give_names(&named, &replaced);
        let named = named.into_inner().unwrap_or_else(PoisonError::into_inner);
        let replaced = replaced.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.map_err(|error| take_back(error, &named, replaced))
    }

    fn give_names(
        self,
        named: &Mutex<Vec<Target>>,
        replaced: &Mutex<Vec<PathBuf>>,
    ) -> Result<(), WriteError> {
        let first = self.first.into_inner().unwrap_or_else(PoisonError::into_inner);
        let new = self.new.into_inner().unwrap_or_else(PoisonError::into_inner);
        let replacements = self.replacements.into_inner().unwrap_or_else(PoisonError::into_inner);
        let last = self.last.into_inner().unwrap_or_else(PoisonError::into_inner);
        let folders = self.folders.into_inner().unwrap_or_else(PoisonError::into_inner);
        let sync_folders = || folders.values().try_for_each(|folder| folder.sync());
        sync(first.iter().chain(&new).chain(&last))?;
        let name = |file: WaitingFile| {
            let target = file.name()?;
            named.lock().unwrap_or_else(PoisonError::into_inner).push(target);
            Ok(())
        };
        first.into_iter().try_for_each(name)?;
        new.into_par_iter().try_for_each(name)?;
        // The undo files are in these folders, too.
        sync_folders()?;
        if replacements.is_empty() && last.is_empty() {
            return Ok(());
        }
        for prepared in replacements {
            let real = prepared.real().to_owned();
            prepared.replace()?;
            replaced.lock().unwrap_or_else(PoisonError::into_inner).push(real);
        }
        for file in last {
            file.replace()?;
        }
        sync_folders()
    }
}

/// Restores what was replaced, and removes what is new.
fn take_back(error: WriteError, named: &[Target], replaced: Vec<PathBuf>) -> WriteError {
    // Looked at anew: the files that stand here now may have the numbers of files that others had
    // open before.
    let writers = Writers::default();
    let left: Vec<WriteError> =
        replaced.iter().filter_map(|file| undo_beside(file, &writers).err()).collect();
    if !left.is_empty() {
        // New files may tell what the replaced ones mean.
        return WriteError::Partly { reason: error.reason(), left };
    }
    let kept = named.iter().filter(|target| target.folder.remove(&target.name).is_err());
    let kept: Vec<PathBuf> = kept.map(|target| target.path.clone()).collect();
    if kept.is_empty() {
        return error;
    }
    WriteError::LeftNew { reason: error.reason(), files: kept }
}

/// Puts files on the disk that are not yet.
fn sync<'a>(files: impl Iterator<Item = &'a WaitingFile>) -> Result<(), WriteError> {
    let open = files.filter_map(|file| match file {
        WaitingFile::Open(file) => Some(file),
        WaitingFile::Parked(_) => None,
    });
    let open: Vec<&NewFile> = open.collect();
    let Some((first, rest)) = open.split_first() else { return Ok(()) };
    let began = Instant::now();
    first.sync()?;
    if began.elapsed() < AT_ONCE {
        return rest.par_iter().try_for_each(|file| file.sync());
    }
    let each = rest.len().div_ceil(WAITING).max(1);
    std::thread::scope(|scope| {
        let sync = |files: &[&NewFile]| files.iter().try_for_each(|file| file.sync());
        let threads: Vec<_> =
            rest.chunks(each).map(|files| scope.spawn(move || sync(files))).collect();
        let mut ended = threads.into_iter().map(|thread| thread.join());
        ended.try_for_each(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use crate::Draft;

    #[test]
    fn files_that_wait_by_hidden_names_are_not_taken_for_left_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let batch = Batch { open: false, ..Batch::for_files(1) };
        batch.write_new(&path, std::iter::once(&b"whole"[..]), 0o644).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(!Draft::remove_left(&path).unwrap(), "somebody is at work on it");
        batch.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        let replacing = Batch { open: false, ..Batch::for_files(1) };
        replacing.write_last(&path, b"newer", Permit::Created(0o644)).unwrap();
        assert!(!Draft::remove_left(&path).unwrap(), "somebody is at work on it");
        drop(replacing);
        assert!(Draft::remove_left(&path).unwrap());
    }
}
