//! Drafts that take the place of files which stay: Windows renames no file that is open.

use crate::folder::Target;
use crate::host::lock::{Renaming, hold};
use crate::new_file::ParkedFile;
use crate::{Draft, WriteError};
use std::path::Path;

impl Draft {
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
