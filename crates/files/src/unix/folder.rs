//! An open folder: names are given in what was opened, whatever its path leads to meanwhile.

use super::lock::Lock;
use crate::Stamp;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

/// A folder that files are written to, open.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    opened: OwnedFd,
    /// Not where one may write to it but not read it.
    can_be_synced: bool,
}

impl OpenFolder {
    pub(crate) fn open(path: &Path) -> io::Result<OpenFolder> {
        let open = |flags| openat(CWD, path, flags | OFlags::CLOEXEC, Mode::empty());
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        let (opened, can_be_synced) = match open(flags) {
            Err(Errno::ACCESS) => (open(OFlags::DIRECTORY | OFlags::PATH), false),
            opened => (opened, true),
        };
        Ok(OpenFolder { opened: opened?, can_be_synced })
    }

    /// Makes sure that the names in it are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match self.can_be_synced {
            true => Ok(rustix::fs::fsync(&self.opened)?),
            false => Ok(()),
        }
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.opened, name, AtFlags::empty())?)
    }

    /// Removes a hidden file that a killed run has left: none that is at work has it locked.
    pub(crate) fn remove_left(&self, hidden: &OsStr) -> bool {
        let Ok(file) = self.read(hidden) else { return false };
        let Ok(lock) = Lock::now(file) else { return false };
        // Between the two its run may have given it its name, and another run this one to a new file.
        self.is_file(hidden, lock.file()) && self.remove(hidden).is_ok()
    }

    /// The file of this name as it is now; `None` where there is none.
    pub(crate) fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = openat(&self.opened, name, flags, Mode::empty()).ok()?;
        Stamp::of_file(&File::from(found))
    }

    /// Whether this name leads to this open file.
    pub(crate) fn is_file(&self, name: &OsStr, file: &File) -> bool {
        // Without a descriptor of its own, as there may be none left.
        let named = statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW);
        match (named, file.metadata()) {
            (Ok(named), Ok(opened)) => (named.st_dev, named.st_ino) == (opened.dev(), opened.ino()),
            _ => false,
        }
    }

    /// A new file with these permissions.
    pub(crate) fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        // Some file systems lock, and map, only what is open for reading.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::CREATE | OFlags::EXCL;
        Ok(openat(&self.opened, name, flags, Mode::from_raw_mode(mode))?.into())
    }

    /// A file open for reading; no link is followed, and no pipe waited for.
    pub(crate) fn read(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&self.opened, name, flags, Mode::empty())?.into())
    }

    /// The same, open for writing as well.
    pub(crate) fn write(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.opened, name, flags, Mode::empty())?.into())
    }

    /// A new file without a name; `None` where the file system has no such files.
    pub(crate) fn nameless(&self, mode: u32) -> io::Result<Option<File>> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
        match openat(&self.opened, ".", flags, Mode::from_raw_mode(mode)) {
            Ok(file) if can_be_named() => Ok(Some(file.into())),
            // What file systems without such files say (open(2), O_TMPFILE).
            Ok(_) | Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOSYS) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file without a name one: by its descriptor, which Linux permits since 6.10 and to
    /// root, else through /proc, which takes longer (open(2), O_TMPFILE).
    pub(crate) fn name(&self, file: &File, name: &OsStr) -> io::Result<()> {
        match linkat(file, "", &self.opened, name, AtFlags::EMPTY_PATH) {
            Err(Errno::NOENT | Errno::INVAL | Errno::PERM) => {
                let from = format!("/proc/self/fd/{}", file.as_raw_fd());
                Ok(linkat(CWD, from, &self.opened, name, AtFlags::SYMLINK_FOLLOW)?)
            }
            linked => Ok(linked?),
        }
    }

    /// Gives a file a second name, which nothing may have.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(linkat(&self.opened, from, &self.opened, to, AtFlags::empty())?)
    }

    /// Gives a file another name, in the place of what has it.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat_with(&self.opened, from, &self.opened, to, RenameFlags::empty())?)
    }

    /// As [`OpenFolder::rename`], where nothing may have the name.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match renameat_with(&self.opened, from, &self.opened, to, RenameFlags::NOREPLACE) {
            // NFS and many file systems of FUSE cannot rename so.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.rename_by_links(from, to),
            renamed => Ok(renamed?),
        }
    }

    fn rename_by_links(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.link(from, to)?;
        self.remove(from)
    }
}

/// Whether files without names can get one, which needs /proc (open(2), O_TMPFILE).
fn can_be_named() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| Path::new("/proc/self/fd").exists())
}

/// Two files or folders get each other's names in one step, which not every file system can do.
///
/// # Errors
/// As renameat2(2); nothing has changed then.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use std::fs;

    #[test]
    fn a_name_that_is_there_is_not_taken_by_a_link_either() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        let folder = OpenFolder::open(place.path()).unwrap();
        let (hidden, name) = (OsStr::new(".hidden"), OsStr::new("file"));
        fs::write(place.path().join(hidden), "new").unwrap();
        folder.rename_by_links(hidden, name).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        fs::write(place.path().join(hidden), "newer").unwrap();
        let refused = folder.rename_by_links(hidden, name).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
