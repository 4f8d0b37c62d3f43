//! Runs that write to one folder do so one after the other. Two that replaced the same file at once
//! would each take the other's undo file for one that a killed run has left, and the original would
//! be lost.

use crate::folder::folder_of;
use crate::host::lock::{FolderLock, end_for_removal, folder, folder_now};
use crate::real::real_path;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that no other run writes to while this value is there.
#[derive(Debug, Default)]
pub struct Locked {
    held: Vec<FolderLock>,
}

impl Locked {
    /// Waits for other runs that write to these folders; `waits` is told of each that it has to wait
    /// for. A folder that cannot be opened, or whose file system has no locks, is passed over.
    pub fn folders<'a>(
        folders: impl IntoIterator<Item = &'a Path>,
        waits: impl Fn(&Path),
    ) -> Locked {
        let real = folders.into_iter().filter_map(|folder| real_path(folder).ok());
        // Every run takes them in the same order, so that no two wait for each other.
        let real: BTreeSet<PathBuf> = real.collect();
        Locked { held: real.iter().filter_map(|path| folder(path, &waits)).collect() }
    }

    /// A folder that no other run has; it is not waited for.
    ///
    /// # Errors
    /// Another run has it ([`io::ErrorKind::WouldBlock`]), or it cannot be opened.
    pub fn now(folder: &Path) -> io::Result<Locked> {
        Ok(Locked { held: folder_now(&real_path(folder)?)?.into_iter().collect() })
    }

    /// What has to be before a locked folder is removed, which is empty but for its lock.
    pub fn before_removal(&mut self) {
        end_for_removal(&mut self.held);
    }

    /// As [`Locked::folders`], for the folders that files are in, links followed.
    pub fn folders_of<'a>(
        files: impl IntoIterator<Item = &'a Path>,
        waits: impl Fn(&Path),
    ) -> Locked {
        let real = files.into_iter().filter_map(|file| real_path(file).ok());
        let folders: BTreeSet<PathBuf> = real.map(|file| folder_of(&file).into()).collect();
        Locked::folders(folders.iter().map(PathBuf::as_path), waits)
    }
}
