//! Locks by flock(2), which end with the process.

use super::folder::OpenFolder;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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

/// A folder that no other run writes to.
pub(crate) type FolderLock = Lock;

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

/// A held file while it gets its own name: it is open, and so locked, until it has it.
#[derive(Debug)]
pub(crate) struct Renaming(File);

impl Renaming {
    pub(crate) fn of(file: File) -> Renaming {
        Renaming(file)
    }
}

impl Drop for Renaming {
    fn drop(&mut self) {
        release(&self.0);
    }
}

/// Keeps an open file, and so its lock, without a descriptor.
#[derive(Debug)]
pub(crate) struct KeptOpen {
    _mapped: Option<memmap2::Mmap>,
}

impl KeptOpen {
    /// Where the file system can map it. It has to be open for reading.
    pub(crate) fn of(file: &File) -> KeptOpen {
        // SAFETY: nobody reads what is mapped.
        #[allow(unsafe_code)]
        let mapped = unsafe { memmap2::MmapOptions::new().len(1).map(file) };
        KeptOpen { _mapped: mapped.ok() }
    }
}

/// Whether a file in a folder is its lock: the folder itself is locked.
pub fn is_lock(_name: &OsStr) -> bool {
    false
}

/// Locks of folders that are about to be removed stay until they are.
pub(crate) fn end_for_removal(_locks: &mut Vec<FolderLock>) {}

/// An undo file, which the lock of its folder keeps.
#[derive(Debug)]
pub(crate) struct Unremovable;

impl Unremovable {
    pub(crate) fn of(_folder: &OpenFolder, _name: &OsStr) -> Unremovable {
        Unremovable
    }
}

/// Locks a folder unless another has.
pub(crate) fn folder_now(folder: &Path) -> io::Result<Option<FolderLock>> {
    match Lock::now(File::open(folder)?) {
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        // Some network file systems lock no folders.
        Err(TryLockError::Error(_)) => Ok(None),
        Ok(held) => Ok(Some(held)),
    }
}

/// Locks a folder, and waits for who has; `None` where it cannot be opened, or its file system has no
/// locks.
pub(crate) fn folder(folder: &Path, waits: &impl Fn(&Path)) -> Option<FolderLock> {
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
        let (opened, now) = (held.file().metadata().ok()?, folder.metadata().ok()?);
        if (opened.dev(), opened.ino()) == (now.dev(), now.ino()) {
            return Some(held);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

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
