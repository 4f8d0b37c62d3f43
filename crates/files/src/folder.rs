//! The folder that a file is written to.
//!
//! It is opened once, and names are given in what was opened: a folder that somebody renames or
//! replaces meanwhile takes no half of what is written.

use crate::WriteError;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, openat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    pub(crate) fn error(&self, doing: &'static str, error: Errno) -> WriteError {
        match error {
            Errno::EXIST => WriteError::Exists(self.path.clone()),
            error => WriteError::io(&self.path, doing)(error.into()),
        }
    }

    pub(crate) fn hidden(&self, suffix: &str) -> OsString {
        let mut hidden = OsString::from(".");
        hidden.push(&self.name);
        hidden.push(format!(".headstart-{suffix}"));
        hidden
    }

    /// Makes sure that its name is on the disk.
    pub(crate) fn sync(&self) -> Result<(), WriteError> {
        self.folder.sync()
    }
}
