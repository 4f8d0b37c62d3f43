//! A copy of a file that a launched program is about to replace. Whatever happens, the copy is
//! removed in the end; where the replacing did not come to its end, the file is first made what it was.
//! The links that led to the file are put back with it.
//!
//! - [`KeptCopy`] does that when it is dropped: at the end, after an error or a panic.
//! - A guardian process does it where headstart is killed, as soon as the launched programs have gone.
//!   Another one is there before the copy has a name.
//! - Where both were killed, the next copy of that file replaces the one that was left.

pub(super) mod guardian;
mod kept_file;
mod links;
mod places;
#[cfg(test)]
mod tests;

use super::launcher::Launcher;
use files::{Draft, WriteError};
use guardian::{Guardian, Wish};
use kept_file::KeptFile;
use links::KeptLink;
use places::Places;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// The copy, in the folder of the file. It belongs to the thread that made it.
pub struct KeptCopy {
    places: Places,
    /// Whether the file is being replaced.
    is_at_stake: bool,
    /// Removed when dropped, before the guardian ends.
    copy: Option<Draft>,
    guardian: Guardian,
}

impl KeptCopy {
    /// Copies the file at `path`, links followed, with its mode, owner, time and attributes.
    ///
    /// # Errors
    /// What the system says; nothing is left then.
    pub fn of(path: &Path) -> Result<KeptCopy, WriteError> {
        KeptCopy::of_when(path, || {})
    }

    /// As [`KeptCopy::of`]; tests are told when the copy has a name and no guardian of its own.
    fn of_when(path: &Path, is_alone: impl FnOnce()) -> Result<KeptCopy, WriteError> {
        let failed = |doing| move |source| WriteError::Io { path: path.to_owned(), doing, source };
        let no_guardian = || failed("starting a process that guards its copy");
        let original = path.canonicalize().map_err(failed("finding it"))?;
        let file = KeptFile::open(&original).map_err(failed("copying it"))?;
        let mut first = Guardian::before_copy(&original).map_err(no_guardian())?;
        let draft = Draft::create(&original)?;
        is_alone();
        file.copy_to(draft.file()).map_err(failed("copying it"))?;
        let copy = draft.read_only()?;
        let links = KeptLink::all(path, copy.path().file_name().unwrap_or_default());
        let places = Places { original, copy: copy.path(), file, links };
        let guardian = Guardian::start(&places, copy.file().as_raw_fd()).map_err(no_guardian())?;
        first.tell(Wish::Leave).map_err(no_guardian())?;
        Ok(KeptCopy { places, is_at_stake: false, copy: Some(copy), guardian })
    }

    /// Where the copy is.
    pub fn path(&self) -> &Path {
        &self.places.copy
    }

    /// The file itself.
    pub fn original(&self) -> &Path {
        &self.places.original
    }

    /// Whether the file at `path` is the very one that was copied, whatever is in it now.
    pub fn is_of(&self, path: &Path) -> bool {
        self.places.file.is_at(path)
    }

    /// From now on a program of the launcher may replace the file.
    ///
    /// # Errors
    /// The guardian is gone.
    pub fn begin(&mut self, launcher: &Launcher) -> io::Result<()> {
        self.is_at_stake = true;
        self.guardian.tell(Wish::PutBackAfter(launcher.guardian()))
    }

    /// The file was replaced as it should be: the copy is no longer to take its place.
    pub fn finish(&mut self) {
        self.is_at_stake = false;
        let wish = if self.copy.is_some() { Wish::Remove } else { Wish::Leave };
        // Where the guardian is gone, it does nothing any more.
        let _ = self.guardian.tell(wish);
    }

    /// Makes the file and the links what they were; whether they were not. The copy is gone then,
    /// unless that failed.
    ///
    /// # Errors
    /// What the system says; the copy stays where it is.
    pub fn put_back(mut self) -> io::Result<bool> {
        self.end()
    }

    fn end(&mut self) -> io::Result<bool> {
        let put_back = self.places.put_back();
        if put_back.is_err() {
            // Nobody may remove it now.
            std::mem::forget(self.copy.take());
        }
        self.finish();
        put_back
    }
}

impl Drop for KeptCopy {
    fn drop(&mut self) {
        if self.is_at_stake {
            let _ = self.end();
        }
    }
}
