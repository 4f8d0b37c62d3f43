//! Locks by files that nobody else can open, which the system removes with the process.

use super::folder::OpenFolder;
use super::patience::is_in_use;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;
use windows_sys::Win32::Foundation::GENERIC_WRITE;
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_ATTRIBUTE_HIDDEN, FILE_FLAG_DELETE_ON_CLOSE,
};

/// The lock of a folder.
const NAME: &str = ".headstart-lock";
/// How often a lock is denied before that is believed.
const DENIALS: u32 = 10;
/// How often a folder is tried that another run has.
const PAUSE: Duration = Duration::from_millis(20);

/// A folder that no other run writes to.
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

/// Whether a file in a folder is its lock.
pub fn is_lock(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(NAME)
}

/// Locks a folder unless another has. The lock is a hidden file in it, so that every run finds it, of
/// any user and machine, by whatever path.
pub(crate) fn folder_now(folder: &Path) -> io::Result<Option<FolderLock>> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).access_mode(GENERIC_WRITE | DELETE);
    options.share_mode(0).custom_flags(FILE_FLAG_DELETE_ON_CLOSE).attributes(FILE_ATTRIBUTE_HIDDEN);
    for _ in 0..DENIALS {
        match options.open(folder.join(NAME)) {
            Ok(file) => return Ok(Some(FolderLock { _file: file })),
            Err(error) if is_in_use(&error) => return Err(io::ErrorKind::WouldBlock.into()),
            // So is said of one that is about to go, too.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                std::thread::sleep(PAUSE);
            }
            Err(_) => break,
        }
    }
    // Where no file can be made, none can be replaced.
    Ok(None)
}

/// Ends the locks of folders that are about to be removed, which have to be empty for that. Another
/// run's lock keeps its folder.
pub(crate) fn end_for_removal(locks: &mut Vec<FolderLock>) {
    locks.clear();
}

/// A file that nobody removes while this value is there.
#[derive(Debug)]
pub(crate) struct Unremovable {
    _file: Option<File>,
}

impl Unremovable {
    pub(crate) fn of(folder: &OpenFolder, name: &OsStr) -> Unremovable {
        Unremovable { _file: folder.read(name).ok() }
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

    #[test]
    fn a_folder_is_locked_by_any_path_and_is_as_it_was_afterwards() {
        let place = tempfile::tempdir().unwrap();
        let held = folder_now(place.path()).unwrap().unwrap();
        let other = place.path().join("..").join(place.path().file_name().unwrap());
        assert_eq!(folder_now(&other).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let names =
            || std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names().all(|name| is_lock(&name)) && names().count() == 1);
        drop(held);
        assert_eq!(names().count(), 0);
        assert!(folder_now(&other).unwrap().is_some());
    }

    #[test]
    fn the_undo_file_of_a_run_at_work_is_not_removed() {
        let place = tempfile::tempdir().unwrap();
        let (folder, name) = (OpenFolder::open(place.path()).unwrap(), OsStr::new("x.undo"));
        std::fs::write(place.path().join(name), "old").unwrap();
        let kept = Unremovable::of(&folder, name);
        assert!(std::fs::remove_file(place.path().join(name)).is_err());
        assert_eq!(std::fs::read(place.path().join(name)).unwrap(), b"old");
        drop(kept);
        std::fs::remove_file(place.path().join(name)).unwrap();
    }
}
