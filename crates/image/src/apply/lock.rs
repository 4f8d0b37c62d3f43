//! Runs that write to one folder do so one after the other. Two that replaced the same file at once
//! would each take the other's undo file for one that a killed run has left, and the original would
//! be lost.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders that no other run writes to while this value is there.
#[derive(Debug, Default)]
pub struct Locked {
    _open: Vec<File>,
}

impl Locked {
    /// Waits for other runs that write to these folders; `waits` is told of each that it has to wait
    /// for. A folder that cannot be opened, or whose file system has no locks, is passed over.
    pub fn folders<'a>(
        folders: impl IntoIterator<Item = &'a Path>,
        waits: impl Fn(&Path),
    ) -> Locked {
        let real = folders.into_iter().filter_map(|folder| folder.canonicalize().ok());
        // Every run takes them in the same order, so that no two wait for each other.
        let real: BTreeSet<PathBuf> = real.collect();
        Locked { _open: real.iter().filter_map(|folder| lock(folder, &waits)).collect() }
    }

    /// The same for the folders that files are in, links followed.
    pub fn folders_of<'a>(
        files: impl IntoIterator<Item = &'a Path>,
        waits: impl Fn(&Path),
    ) -> Locked {
        let real = files.into_iter().filter_map(|file| file.canonicalize().ok());
        let folders: BTreeSet<PathBuf> =
            real.map(|file| super::atomic::folder(&file).into()).collect();
        Locked::folders(folders.iter().map(PathBuf::as_path), waits)
    }
}

fn lock(folder: &Path, waits: &impl Fn(&Path)) -> Option<File> {
    loop {
        let file = File::open(folder).ok()?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(_)) => return None,
            Err(TryLockError::WouldBlock) => {
                waits(folder);
                file.lock().ok()?;
            }
        }
        // The run that was waited for may have removed the folder, and another made it again.
        let (held, now) = (file.metadata().ok()?, folder.metadata().ok()?);
        if (held.dev(), held.ino()) == (now.dev(), now.ino()) {
            return Some(file);
        }
    }
}
