//! The folder that a file is written to.
//!
//! It is opened once, and names are given in what was opened: a folder that somebody renames or
//! replaces meanwhile takes no half of what is written.

use crate::lock::{Lock, hold};
use crate::{Stamp, WriteError};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Hidden names of one file: more runs than that do not write it at once.
const HIDDEN: u32 = 99;
/// Bytes of a file's name in its hidden name; names have up to 255.
const LONGEST: usize = 200;

/// A folder that files are written to, open.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    pub(crate) opened: OwnedFd,
    /// Not where one may write to it but not read it.
    can_be_synced: bool,
}

/// The path of the folder that a file is in.
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

impl Folder {
    /// The folder that a file is in.
    pub(crate) fn of(file: &Path) -> Result<Arc<Folder>, WriteError> {
        let path = folder_of(file);
        let open = |flags| openat(CWD, path, flags | OFlags::CLOEXEC, Mode::empty());
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        let (opened, can_be_synced) = match open(flags) {
            Err(Errno::ACCESS) => (open(OFlags::DIRECTORY | OFlags::PATH), false),
            opened => (opened, true),
        };
        let opened =
            opened.map_err(|error| WriteError::io(file, "writing its folder")(error.into()))?;
        Ok(Arc::new(Folder { path: path.to_owned(), opened, can_be_synced }))
    }

    /// Makes sure that the names in it are on the disk.
    pub(crate) fn sync(&self) -> Result<(), WriteError> {
        if !self.can_be_synced {
            return Ok(());
        }
        let synced = rustix::fs::fsync(&self.opened);
        synced.map_err(|error| WriteError::io(&self.path, "writing it")(error.into()))
    }

    /// Removes a file; one that is not there is no error.
    pub(crate) fn remove(&self, name: &OsStr) -> Result<(), Errno> {
        match unlinkat(&self.opened, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            removed => removed,
        }
    }

    /// As [`Folder::remove`], by a path of which only the last part counts.
    pub(crate) fn remove_file(&self, path: &Path) -> Result<(), WriteError> {
        let removed = self.remove(path.file_name().unwrap_or_default());
        removed.map_err(|error| WriteError::io(path, "removing it")(error.into()))
    }

    /// The file of this name as it is now; `None` where there is none.
    pub(crate) fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = openat(&self.opened, name, flags, Mode::empty()).ok()?;
        File::from(found).metadata().ok().as_ref().map(Stamp::of)
    }

    /// What was read at `path` is the file that this folder has, and no other folder has taken the
    /// place of this one since it was opened.
    ///
    /// # Errors
    /// It is another file, or was changed.
    pub(crate) fn still_has(&self, path: &Path, data: &Metadata) -> Result<(), WriteError> {
        let read = Some(Stamp::of(data));
        match Stamp::now(path) == read && self.stamp(path.file_name().unwrap_or_default()) == read {
            true => Ok(()),
            false => Err(WriteError::changed_meanwhile(path)),
        }
    }

    /// Removes a hidden file that a killed run has left: none that is at work has it locked.
    fn remove_left(&self, hidden: &OsStr) -> bool {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat(&self.opened, hidden, flags, Mode::empty()) else { return false };
        let Ok(lock) = Lock::now(file.into()) else { return false };
        // Between the two its run may have given it its name, and another run this one to a new file.
        self.is_file(hidden, lock.file()) && self.remove(hidden).is_ok()
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

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr, flags: RenameFlags) -> Result<(), Errno> {
        renameat_with(&self.opened, from, &self.opened, to, flags)
    }
}

/// Where a file is to be.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// As it was given, for errors.
    pub(crate) path: PathBuf,
    pub(crate) folder: Arc<Folder>,
    pub(crate) name: OsString,
}

impl Target {
    /// `path` in its folder.
    pub(crate) fn new(folder: &Arc<Folder>, path: &Path) -> Result<Target, WriteError> {
        // Of `name/` and `name/.` the last part would be `name`, too.
        let name =
            path.file_name().filter(|name| path.as_os_str().as_bytes().ends_with(name.as_bytes()));
        let name = name.ok_or_else(|| {
            WriteError::refused(path, "it is the name of a folder; give that of a file")
        })?;
        Ok(Target { path: path.to_owned(), folder: folder.clone(), name: name.to_owned() })
    }

    pub(crate) fn error(&self, doing: &'static str, error: Errno) -> WriteError {
        match error {
            Errno::EXIST => WriteError::Exists(self.path.clone()),
            error => WriteError::io(&self.path, doing)(error.into()),
        }
    }

    /// Makes a file of a hidden name that no other run uses.
    pub(crate) fn hide<T>(
        &self,
        make: impl Fn(&OsStr) -> Result<T, Errno>,
    ) -> Result<(T, OsString), Errno> {
        let mut number = 0;
        loop {
            let hidden = self.hidden(number);
            match make(&hidden) {
                Err(Errno::EXIST) if self.folder.remove_left(&hidden) => {}
                Err(Errno::EXIST) if number < HIDDEN => number += 1,
                made => return Ok((made?, hidden)),
            }
        }
    }

    /// Creates a file of such a name, locked so that no other run takes it for one that was left.
    pub(crate) fn create_hidden(
        &self,
        access: OFlags,
        mode: u32,
    ) -> Result<(File, OsString), Errno> {
        let folder = &self.folder;
        self.hide(|hidden| {
            let flags = access | OFlags::CREATE | OFlags::EXCL;
            let mode = Mode::from_raw_mode(mode);
            let file = File::from(openat(&folder.opened, hidden, flags, mode)?);
            match hold(&file) && folder.is_file(hidden, &file) {
                true => Ok(file),
                // One did, before it was locked.
                false => Err(Errno::EXIST),
            }
        })
    }

    /// Removes what killed runs have left of it; whether nothing has such a name any more.
    pub(crate) fn remove_left(&self) -> bool {
        let stays = |hidden: &OsString| {
            self.folder.stamp(hidden).is_some() && !self.folder.remove_left(hidden)
        };
        (0..=HIDDEN).map(|number| self.hidden(number)).filter(stays).count() == 0
    }

    fn hidden(&self, number: u32) -> OsString {
        let mut hidden = OsString::from(".");
        match self.name.as_bytes().get(..LONGEST) {
            None => hidden.push(&self.name),
            // With the whole of it and the rest it would be too long.
            Some(start) => {
                hidden.push(OsStr::from_bytes(start));
                let hash = Sha256::digest(self.name.as_bytes());
                hash.iter().take(8).for_each(|byte| hidden.push(format!("{byte:02x}")));
            }
        }
        hidden.push(".headstart-new");
        if number > 0 {
            hidden.push(number.to_string());
        }
        hidden
    }

    /// Gives the file of a hidden name its own one, which nothing may have.
    pub(crate) fn name(&self, hidden: &OsStr) -> Result<(), Errno> {
        match self.folder.rename(hidden, &self.name, RenameFlags::NOREPLACE) {
            // NFS and many file systems of FUSE cannot rename so.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.link(hidden),
            renamed => renamed,
        }
    }

    fn link(&self, hidden: &OsStr) -> Result<(), Errno> {
        let folder = &self.folder.opened;
        linkat(folder, hidden, folder, &self.name, AtFlags::empty())?;
        self.folder.remove(hidden)
    }

    /// Makes sure that its name, which it has, is on the disk.
    pub(crate) fn sync(&self) -> Result<(), WriteError> {
        self.folder.sync().map_err(WriteError::afterwards)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use std::fs;

    #[test]
    fn another_folder_in_the_place_of_the_opened_one_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let [named, aside, other] = ["d", "aside", "other"].map(|name| place.path().join(name));
        for folder in [&named, &other] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "1").unwrap();
        }
        let path = named.join("file");
        let (data, folder) = (path.metadata().unwrap(), Folder::of(&path).unwrap());
        folder.still_has(&path, &data).unwrap();
        fs::rename(&named, aside).unwrap();
        assert!(folder.still_has(&path, &data).is_err(), "nothing is there");
        fs::rename(other, &named).unwrap();
        assert!(folder.still_has(&path, &data).is_err(), "another file is there");
        let data = path.metadata().unwrap();
        assert!(folder.still_has(&path, &data).is_err(), "and none of the opened folder");
    }

    #[test]
    fn a_name_that_is_there_is_not_taken_by_a_link_either() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        let target = Target::new(&Folder::of(&path).unwrap(), &path).unwrap();
        let hidden = OsStr::new(".hidden");
        fs::write(place.path().join(hidden), "new").unwrap();
        target.link(hidden).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        fs::write(place.path().join(hidden), "newer").unwrap();
        assert_eq!(target.link(hidden), Err(Errno::EXIST));
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
