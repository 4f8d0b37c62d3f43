//! Runs that write to one folder do so one after the other. Two that replaced the same file at once
//! would each take the other's undo file for one that a killed run has left, and the original would
//! be lost.

use crate::folder::folder_of;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file or folder that is locked while this value is there.
///
/// Closing a file does not always unlock it: a process that another thread starts has the open file
/// as well until it runs its program, and keeps the lock so long (`flock(2)`). So it is unlocked
/// explicitly.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Locks it, or says why not. [`TryLockError::WouldBlock`]: another has locked it.
    pub fn now(file: File) -> Result<Lock, TryLockError> {
        file.try_lock().map(|()| Lock(file))
    }

    /// What is locked.
    pub(crate) fn file(&self) -> &File {
        &self.0
    }

    /// Waits for others and locks it.
    pub fn wait(file: File) -> io::Result<Lock> {
        file.lock().map(|()| Lock(file))
    }

    /// Waits for those who change it, and keeps them out; others may look as well.
    pub fn shared(file: File) -> io::Result<Lock> {
        file.lock_shared().map(|()| Lock(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Where this fails, closing unlocks it.
        let _ = self.0.unlock();
    }
}

/// Keeps others from taking a file with a hidden name for one that a killed run has left. The lock is
/// shared, so that the file can be opened again and be locked all the time. False where somebody is
/// about to remove it.
pub(crate) fn hold(file: &File) -> bool {
    // Some file systems have no locks; nobody removes a file there.
    !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Ends that, as [`Lock`] does, once the file has its own name.
pub(crate) fn release(file: &File) {
    let _ = file.unlock();
}

/// Folders that no other run writes to while this value is there.
#[derive(Debug, Default)]
pub struct Locked {
    _held: Vec<Lock>,
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
        Locked { _held: real.iter().filter_map(|folder| lock(folder, &waits)).collect() }
    }

    /// The same for the folders that files are in, links followed.
    pub fn folders_of<'a>(
        files: impl IntoIterator<Item = &'a Path>,
        waits: impl Fn(&Path),
    ) -> Locked {
        let real = files.into_iter().filter_map(|file| file.canonicalize().ok());
        let folders: BTreeSet<PathBuf> = real.map(|file| folder_of(&file).into()).collect();
        Locked::folders(folders.iter().map(PathBuf::as_path), waits)
    }
}

fn lock(folder: &Path, waits: &impl Fn(&Path)) -> Option<Lock> {
    loop {
        let held = match Lock::now(File::open(folder).ok()?) {
            Ok(held) => held,
            Err(TryLockError::Error(_)) => return None,
            Err(TryLockError::WouldBlock) => {
                waits(folder);
                Lock::wait(File::open(folder).ok()?).ok()?
            }
        };
        // The run that was waited for may have removed the folder, and another made it again.
        let (opened, now) = (held.0.metadata().ok()?, folder.metadata().ok()?);
        if (opened.dev(), opened.ino()) == (now.dev(), now.ino()) {
            return Some(held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_though_another_process_has_the_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::open(folder.path()).unwrap();
        let of_a_child = file.try_clone().unwrap();
        let held = Lock::now(file).unwrap();
        let again = || Lock::now(File::open(folder.path()).unwrap());
        assert!(matches!(again(), Err(TryLockError::WouldBlock)));
        drop(held);
        assert!(again().is_ok());
        drop(of_a_child);
    }
}
