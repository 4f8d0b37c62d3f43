//! The folder that a file is written to.
//!
//! It is opened once, and names are given in what was opened: a folder that somebody renames or
//! replaces meanwhile takes no half of what is written.

use crate::host::folder::OpenFolder;
use crate::host::kind::no_name;
use crate::host::lock::hold;
use crate::{Stamp, WriteError};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
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
    pub(crate) opened: OpenFolder,
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
        let opened = OpenFolder::open(path).map_err(WriteError::io(file, "writing its folder"))?;
        Ok(Arc::new(Folder { path: path.to_owned(), opened }))
    }

    /// Makes sure that the names in it are on the disk.
    pub(crate) fn sync(&self) -> Result<(), WriteError> {
        self.opened.sync().map_err(WriteError::io(&self.path, "writing it"))
    }

    /// Removes a file; one that is not there is no error.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        match self.opened.remove(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// As [`Folder::remove`], by a path of which only the last part counts.
    pub(crate) fn remove_file(&self, path: &Path) -> Result<(), WriteError> {
        let removed = self.remove(path.file_name().unwrap_or_default());
        removed.map_err(WriteError::io(path, "removing it"))
    }

    /// What was read at `path` is the file that this folder has, and no other folder has taken the
    /// place of this one since it was opened.
    ///
    /// # Errors
    /// It is another file, or was changed.
    pub(crate) fn still_has(&self, path: &Path, read: Option<Stamp>) -> Result<(), WriteError> {
        let name = path.file_name().unwrap_or_default();
        match read.is_some() && Stamp::now(path) == read && self.opened.stamp(name) == read {
            true => Ok(()),
            false => Err(WriteError::changed_meanwhile(path)),
        }
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
        let name = path.file_name().filter(|name| ends_with(path, name));
        let name = name.ok_or_else(|| {
            WriteError::refused(path, "it is the name of a folder; give that of a file")
        })?;
        if let Some(reason) = no_name(name) {
            return Err(WriteError::refused(path, reason));
        }
        Ok(Target { path: path.to_owned(), folder: folder.clone(), name: name.to_owned() })
    }

    pub(crate) fn error(&self, doing: &'static str, error: io::Error) -> WriteError {
        match error.kind() {
            ErrorKind::AlreadyExists => WriteError::Exists(self.path.clone()),
            _ => WriteError::io(&self.path, doing)(error),
        }
    }

    /// Makes a file of a hidden name that no other run uses.
    pub(crate) fn hide<T>(
        &self,
        make: impl Fn(&OsStr) -> io::Result<T>,
    ) -> io::Result<(T, OsString)> {
        let mut number = 0;
        loop {
            let hidden = self.hidden(number);
            match make(&hidden) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if !self.folder.opened.remove_left(&hidden) {
                        number += 1;
                    }
                    if number > HIDDEN {
                        return Err(error);
                    }
                }
                made => return Ok((made?, hidden)),
            }
        }
    }

    /// Creates a file of such a name, locked so that no other run takes it for one that was left.
    pub(crate) fn create_hidden(&self, mode: u32) -> io::Result<(File, OsString)> {
        let folder = &self.folder.opened;
        self.hide(|hidden| {
            let file = folder.create(hidden, mode)?;
            match hold(&file) && folder.is_file(hidden, &file) {
                true => Ok(file),
                // One did, before it was locked.
                false => Err(ErrorKind::AlreadyExists.into()),
            }
        })
    }

    /// Removes what killed runs have left of it; whether nothing has such a name any more.
    pub(crate) fn remove_left(&self) -> bool {
        let stays = |hidden: &OsString| {
            self.folder.opened.stamp(hidden).is_some() && !self.folder.opened.remove_left(hidden)
        };
        (0..=HIDDEN).map(|number| self.hidden(number)).filter(stays).count() == 0
    }

    fn hidden(&self, number: u32) -> OsString {
        let mut hidden = OsString::from(".");
        let name = self.name.as_encoded_bytes();
        match name.len() <= LONGEST {
            true => hidden.push(&self.name),
            // With the whole of it and the rest it would be too long.
            false => {
                hidden.push(start(&self.name));
                let hash = Sha256::digest(name);
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
    pub(crate) fn name(&self, hidden: &OsStr) -> io::Result<()> {
        self.folder.opened.rename_new(hidden, &self.name)
    }

    /// Makes sure that its name, which it has, is on the disk.
    pub(crate) fn sync(&self) -> Result<(), WriteError> {
        self.folder.sync().map_err(WriteError::afterwards)
    }
}

/// Whether the path as it was given ends with this name.
fn ends_with(path: &Path, name: &OsStr) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes())
}

/// What a long name begins with; another text serves as well.
fn start(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let end = (0..=LONGEST).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    name.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
#[cfg(unix)]
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
        let (stamp, folder) = (Stamp::now(&path), Folder::of(&path).unwrap());
        folder.still_has(&path, stamp).unwrap();
        fs::rename(&named, aside).unwrap();
        assert!(folder.still_has(&path, stamp).is_err(), "nothing is there");
        fs::rename(other, &named).unwrap();
        assert!(folder.still_has(&path, stamp).is_err(), "another file is there");
        let stamp = Stamp::now(&path);
        assert!(folder.still_has(&path, stamp).is_err(), "and none of the opened folder");
    }
}
