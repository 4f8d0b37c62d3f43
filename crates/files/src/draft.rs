//! A file that is looked at, by a hidden name in its folder, before it gets its own name.

use crate::folder::{Folder, Target, folder_of};
use crate::host::lock::{Renaming, hold};
use crate::new_file::{NewFile, ParkedFile};
use crate::{Permit, WriteError};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A file that is not yet where it is to be. It goes with this value.
#[derive(Debug)]
pub struct Draft {
    pub(crate) file: File,
    pub(crate) parked: ParkedFile,
}

impl Draft {
    /// An empty file, for its owner alone, that is to be at `path`.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(path: &Path) -> Result<Draft, WriteError> {
        let target = Target::new(&Folder::of(path)?, path)?;
        let created = target.create_hidden(0o600);
        let (file, hidden) = created.map_err(WriteError::io(path, "writing its folder"))?;
        Ok(Draft { file, parked: ParkedFile::new(target, hidden) })
    }

    /// As [`Draft::create`], but the file has its content and is on the disk before it gets its hidden
    /// name, and is [`Draft::read_only`]: where a run is killed that writes a large one nothing is
    /// left, as far as the file system has files without names.
    ///
    /// # Errors
    /// What the system says.
    pub fn written(
        path: &Path,
        permit: Permit,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<Draft, WriteError> {
        let new = NewFile::create(&Folder::of(path)?, path, permit)?.fill(write)?;
        let (file, parked) = new.synced()?.hide()?;
        Draft { file, parked }.read_only()
    }

    /// Removes drafts for `path` that killed runs have left; whether there is none any more. Those of
    /// runs that are at work stay.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn remove_left(path: &Path) -> Result<bool, WriteError> {
        Ok(Target::new(&Folder::of(path)?, path)?.remove_left())
    }

    /// The same, no longer open for writing: such a file cannot be started.
    ///
    /// # Errors
    /// What the system says.
    pub fn read_only(self) -> Result<Draft, WriteError> {
        let path = &self.parked.target.path;
        let file = self.opened_again().map_err(WriteError::io(path, "reading it"))?;
        Ok(Draft { file, ..self })
    }

    /// The same file, open for reading and locked as well.
    fn opened_again(&self) -> io::Result<File> {
        let folder = &self.parked.target.folder;
        let hidden = self.parked.hidden.as_deref().unwrap_or_default();
        let file = folder.opened.read(hidden)?;
        hold(&file);
        Ok(file)
    }

    /// The file, open for reading, and for writing unless it is [`Draft::read_only`].
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where it is for now.
    pub fn path(&self) -> PathBuf {
        let hidden = self.parked.hidden.as_deref().unwrap_or_default();
        folder_of(&self.parked.target.path).join(hidden)
    }

    /// Gives it its name, which nothing may have. It is no longer open for writing then, as such a
    /// program cannot be started.
    ///
    /// # Errors
    /// What the system says, or there is such a file.
    pub fn name(self) -> Result<(), WriteError> {
        self.moved(ParkedFile::name)
    }

    /// Puts it in the place of another file, in one step; as [`Draft::name`].
    ///
    /// # Errors
    /// What the system says; everything is as before then.
    pub fn replace(self) -> Result<(), WriteError> {
        self.moved(ParkedFile::replace)
    }

    fn moved(
        self,
        to: impl FnOnce(ParkedFile) -> Result<Target, WriteError>,
    ) -> Result<(), WriteError> {
        // Its lock, until it has its name. A file that may not be read is not locked meanwhile.
        let _locked = self.opened_again().map(Renaming::of);
        drop(self.file);
        to(self.parked).map(drop)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use std::fs;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_has_its_name_in_the_end_or_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        drop(Draft::create(&path).unwrap());
        assert!(names(folder.path()).is_empty());
        let draft = Draft::create(&path).unwrap();
        draft.file().write_all(b"1").unwrap();
        assert_eq!(fs::read(draft.path()).unwrap(), b"1");
        draft.name().unwrap();
        let twice = Draft::create(&path).unwrap().name();
        assert!(matches!(twice, Err(WriteError::Exists(_))), "{twice:?}");
        assert_eq!(
            (names(folder.path()), fs::read(&path).unwrap()),
            (vec!["file".into()], vec![b'1'])
        );
    }

    #[test]
    fn a_draft_that_is_written_first_has_no_name_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let written = Draft::written(&path, Permit::Exactly(0o640), |mut file| {
            assert!(names(folder.path()).iter().all(|name| name != "file"));
            file.write_all(b"1")
        });
        let draft = written.unwrap();
        assert_eq!(fs::read(draft.path()).unwrap(), b"1");
        assert!(!Draft::remove_left(&path).unwrap(), "it is locked");
        assert!(draft.file().write_all(b"2").is_err(), "it is read-only");
        drop(draft);
        assert!(names(folder.path()).is_empty());
        let failed =
            Draft::written(&path, Permit::Exactly(0o640), |_| Err(io::ErrorKind::Other.into()));
        assert!(failed.is_err() && names(folder.path()).is_empty());
    }
}
