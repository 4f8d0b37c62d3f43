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
    file: File,
    parked: ParkedFile,
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

    /// As [`Draft::create`], of a file that is in the same folder and loses its name, whatever
    /// comes of it.
    ///
    /// # Errors
    /// What the system says.
    pub fn take(present: &Path, path: &Path) -> Result<Draft, WriteError> {
        let draft = Draft::create(path)?;
        let folder = &draft.parked.target.folder;
        let from = present.file_name().unwrap_or_default();
        let hidden = draft.parked.hidden.as_deref().unwrap_or_default();
        let opened = folder.opened.write(from);
        // As any file before it has a hidden name.
        let _ = opened.as_ref().map(hold);
        let taken = folder.opened.rename(from, hidden).and(opened);
        let file = taken.map_err(WriteError::io(present, "taking it"))?;
        match folder.opened.is_file(hidden, &file) {
            true => Ok(Draft { file, ..draft }),
            false => Err(WriteError::changed_meanwhile(present)),
        }
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

    /// As [`Draft::replace`], where the other file is kept as `kept` in the same folder, in the
    /// place of what is there. All that is on the disk then.
    ///
    /// # Errors
    /// What the system says.
    pub fn replace_and_keep(self, kept: &Path) -> Result<(), WriteError> {
        let Target { folder, name, .. } = self.parked.target.clone();
        let target = Target::new(&folder, kept)?;
        // What a killed run has left may be the same file by another name, which is about to be locked here.
        target.remove_left();
        // Where it may not be read, no other run of this user can lock and remove it either.
        let locked = folder.opened.read(&name);
        let _ = locked.as_ref().map(hold);
        let linked = target.hide(|hidden| folder.opened.link(&name, hidden));
        let ((), hidden) = linked.map_err(WriteError::io(kept, "writing it"))?;
        let locked = locked.map(Renaming::of);
        let former = ParkedFile::new(target, hidden);
        self.replace()?;
        let kept = former.replace();
        drop(locked);
        kept?.sync()
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

    #[test]
    fn drafts_that_were_left_are_removed_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let at_work = Draft::create(&path).unwrap();
        let killed = Draft::create(&path).unwrap();
        let left = killed.path();
        killed.file().unlock().unwrap();
        assert!(!Draft::remove_left(&path).unwrap());
        assert!(at_work.path().exists() && !left.exists());
        drop(at_work);
        assert!(Draft::remove_left(&path).unwrap());
    }

    #[test]
    fn what_was_replaced_is_kept_and_can_be_taken() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (folder.path().join("file"), folder.path().join("kept"));
        fs::write(&path, "1").unwrap();
        for (new, old) in [("2", "1"), ("3", "2")] {
            let draft = match kept.exists() {
                true => Draft::take(&kept, &path).unwrap(),
                false => Draft::create(&path).unwrap(),
            };
            assert!(!kept.exists());
            draft.file().write_all(new.as_bytes()).unwrap();
            draft.replace_and_keep(&kept).unwrap();
            let content = [&path, &kept].map(|path| fs::read_to_string(path).unwrap());
            assert_eq!(content, [new, old]);
            assert_eq!(names(folder.path()), ["file", "kept"]);
        }
    }
}
