//! A copy of a file that a launched program is about to replace. Whatever happens, the copy is
//! removed in the end; where the replacing did not come to its end, it first takes the file's place.
//! The links that led to the file are put back with it.
//!
//! - [`KeptCopy`] does that when it is dropped: at the end, after an error or a panic.
//! - A guardian process does it where headstart is killed, as soon as the launched programs have gone.
//! - Where both were killed, the next copy of that file replaces the one that was left.

mod guardian;
mod links;
#[cfg(test)]
mod tests;

use super::launcher::Launcher;
use files::{Draft, WriteError};
use guardian::{Guardian, Wish};
use links::KeptLink;
use std::fs::{File, FileTimes};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The copy, in the folder of the file. It belongs to the thread that made it.
pub struct KeptCopy {
    places: Places,
    /// Whether the file is being replaced.
    is_at_stake: bool,
    /// Removed when dropped, before the guardian ends.
    copy: Option<Draft>,
    guardian: Guardian,
}

/// The file and its copy.
struct Places {
    original: PathBuf,
    copy: PathBuf,
    /// Those by which the file was named.
    links: Vec<KeptLink>,
}

impl KeptCopy {
    /// Copies the file at `path`, links followed, with its mode, owner and time.
    ///
    /// # Errors
    /// What the system says; nothing is left then.
    pub fn of(path: &Path) -> Result<KeptCopy, WriteError> {
        let failed = |doing| move |source| WriteError::Io { path: path.to_owned(), doing, source };
        let original = path.canonicalize().map_err(failed("finding it"))?;
        let draft = Draft::create(&original)?;
        copied(&original, draft.file()).map_err(failed("copying it"))?;
        let copy = draft.read_only()?;
        let links = KeptLink::all(path, copy.path().file_name().unwrap_or_default());
        let places = Places { original, copy: copy.path(), links };
        let guardian = Guardian::start(&places, copy.file().as_raw_fd());
        let guardian = guardian.map_err(failed("starting a process that guards its copy"))?;
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

    /// Puts the links and the copy in their places, where these are not what they were; whether they
    /// were not. The copy is gone then, unless that failed.
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

impl Places {
    fn put_back(&self) -> io::Result<bool> {
        let mut has_changed = false;
        for link in &self.links {
            has_changed |= link.put_back()?;
        }
        if is_same(&self.original, &self.copy)? {
            return Ok(has_changed);
        }
        std::fs::rename(&self.copy, &self.original)?;
        Ok(true)
    }

    fn remove(&self) {
        let _ = std::fs::remove_file(&self.copy);
    }
}

/// Whether the file has the bytes and the mode of its copy.
fn is_same(original: &Path, copy: &Path) -> io::Result<bool> {
    let Ok(data) = original.metadata() else { return Ok(false) };
    let kept = copy.metadata()?;
    if data.len() != kept.len() || data.mode() != kept.mode() {
        return Ok(false);
    }
    Ok(std::fs::read(original)? == std::fs::read(copy)?)
}

fn copied(original: &Path, copy: &File) -> io::Result<()> {
    let original = File::open(original)?;
    let data = original.metadata()?;
    io::copy(&mut &original, &mut &*copy)?;
    // Only root may give a file away; a user's own files are already theirs.
    let _ = std::os::unix::fs::fchown(copy, Some(data.uid()), Some(data.gid()));
    copy.set_permissions(data.permissions())?;
    // make(1) goes by it, should the file be put back.
    copy.set_times(FileTimes::new().set_modified(data.modified()?))?;
    copy.sync_all()
}
