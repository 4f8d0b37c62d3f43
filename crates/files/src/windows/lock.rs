//! Locks by files that nobody else can open, which the system removes with the process.

use super::patience::is_in_use;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;
use windows_sys::Win32::Foundation::GENERIC_WRITE;
use windows_sys::Win32::Storage::FileSystem::{DELETE, FILE_FLAG_DELETE_ON_CLOSE};

/// How often a folder is tried that another run has.
const PAUSE: Duration = Duration::from_millis(20);

/// A folder that no other run of this user writes to.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

/// A file that is open cannot be removed, as it was opened without that: it needs no lock.
pub(crate) fn hold(_file: &File) -> bool {
    true
}

/// A file that gets its own name, which no open one can.
#[derive(Debug)]
pub(crate) struct Renaming;

impl Renaming {
    pub(crate) fn of(file: File) -> Renaming {
        drop(file);
        Renaming
    }
}

/// A closed file stays by itself.
#[derive(Debug)]
pub(crate) struct KeptOpen;

impl KeptOpen {
    pub(crate) fn of(_file: &File) -> KeptOpen {
        KeptOpen
    }
}

/// Locks a folder unless another has. The lock is a file among those of this user that are
/// temporary, so that the folder is as it was.
pub(crate) fn folder_now(folder: &Path) -> io::Result<Option<FolderLock>> {
    let name = folder.as_os_str().as_encoded_bytes().to_ascii_lowercase();
    let hash = Sha256::digest(name);
    let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let mut options = OpenOptions::new();
    options.write(true).create(true).access_mode(GENERIC_WRITE | DELETE);
    options.share_mode(0).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    match options.open(std::env::temp_dir().join(format!("headstart-lock-{hash}"))) {
        Ok(file) => Ok(Some(FolderLock { _file: file })),
        Err(error) if is_in_use(&error) => Err(io::ErrorKind::WouldBlock.into()),
        // As on file systems that have no locks.
        Err(_) => Ok(None),
    }
}

/// Locks a folder, and waits for who has; `None` where there can be no lock.
pub(crate) fn folder(folder: &Path, waits: &impl Fn(&Path)) -> Option<FolderLock> {
    let mut waited = false;
    loop {
        match folder_now(folder) {
            Ok(lock) => return lock,
            Err(_) if waited => std::thread::sleep(PAUSE),
            Err(_) => {
                waits(folder);
                waited = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn the_second_waits_for_the_first() {
        let place = tempfile::tempdir().unwrap();
        let held = folder(place.path(), &|_| panic!("nobody has it")).unwrap();
        let waits = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let second = scope
                .spawn(|| folder(place.path(), &|_| waits.store(true, Ordering::SeqCst)).is_some());
            while !waits.load(Ordering::SeqCst) {
                std::thread::sleep(PAUSE);
            }
            drop(held);
            assert!(second.join().unwrap());
        });
    }
}
