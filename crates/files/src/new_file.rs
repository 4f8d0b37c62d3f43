//! A file appears whole, or not at all: it has no name until it is on the disk.

use crate::folder::{Folder, Target};
use crate::lock::{hold, release};
use crate::mapped::kept_open;
use crate::{Permit, WriteError};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Size of the writes.
const BUFFER: usize = 1 << 20;

/// A file on the disk that has no name yet, or, on file systems without such files, a hidden one.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) file: File,
    target: Target,
    permit: Permit,
    /// Its name, where it has one.
    hidden: Option<OsString>,
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            // Whatever went wrong before is what matters.
            let _ = self.target.folder.remove(hidden);
        }
    }
}

impl NewFile {
    /// An empty file that is to be at `path`, in this folder.
    pub(crate) fn create(
        folder: &Arc<Folder>,
        path: &Path,
        permit: Permit,
    ) -> Result<NewFile, WriteError> {
        let target = Target::new(folder, path)?;
        // Some file systems lock, and map, only what is open for reading.
        let (flags, mode) = (OFlags::RDWR | OFlags::CLOEXEC, permit.mode());
        let nameless = flags | OFlags::TMPFILE;
        let opened = openat(&folder.opened, ".", nameless, Mode::from_raw_mode(mode));
        let (file, hidden) = match opened {
            Ok(file) if can_be_named() => (Ok(File::from(file)), None),
            // What file systems without such files say (open(2), O_TMPFILE).
            Ok(_) | Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOSYS) => {
                match target.create_hidden(flags, mode) {
                    Ok((file, hidden)) => (Ok(file), Some(hidden)),
                    Err(error) => (Err(error), None),
                }
            }
            Err(error) => (Err(error), None),
        };
        let file =
            file.map_err(|error| WriteError::io(path, "writing its folder")(error.into()))?;
        // Before it has a name by which others could find it.
        hold(&file);
        Ok(NewFile { file, target, permit, hidden })
    }

    /// Gives it its content and permissions.
    pub(crate) fn fill(
        self,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<NewFile, WriteError> {
        let fill = || {
            write(&self.file)?;
            match self.permit {
                Permit::Exactly(mode)
                    if self.file.metadata()?.permissions().mode() & 0o7777 != mode =>
                {
                    self.file.set_permissions(Permissions::from_mode(mode))
                }
                _ => Ok(()),
            }
        };
        fill().map_err(WriteError::io(&self.target.path, "writing it"))?;
        Ok(self)
    }

    /// Puts it on the disk.
    pub(crate) fn synced(self) -> Result<NewFile, WriteError> {
        self.sync()?;
        Ok(self)
    }

    /// As [`NewFile::synced`].
    pub(crate) fn sync(&self) -> Result<(), WriteError> {
        self.file.sync_all().map_err(WriteError::io(&self.target.path, "writing it"))
    }

    /// Gives a file without a name one: by its descriptor, which Linux permits since 6.10 and to
    /// root, else through /proc, which takes longer (open(2), O_TMPFILE).
    fn link(&self, name: &OsStr) -> Result<(), Errno> {
        let folder = &self.target.folder.opened;
        match linkat(&self.file, "", folder, name, AtFlags::EMPTY_PATH) {
            Err(Errno::NOENT | Errno::INVAL | Errno::PERM) => {
                let from = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                linkat(CWD, from, folder, name, AtFlags::SYMLINK_FOLLOW)
            }
            linked => linked,
        }
    }

    /// Gives it its name, which nothing may have.
    pub(crate) fn name(mut self) -> Result<Target, WriteError> {
        let named = match &self.hidden {
            None => self.link(&self.target.name),
            Some(hidden) => self.target.name(hidden),
        };
        named.map_err(|error| self.target.error("giving it its name", error))?;
        self.hidden = None;
        release(&self.file);
        Ok(self.target.clone())
    }

    /// Puts it in the place of another file, in one step.
    pub(crate) fn replace(mut self) -> Result<Target, WriteError> {
        // It is open, and so locked, until it is there.
        let replaced = self.hide()?.replace();
        release(&self.file);
        replaced
    }

    /// Closes it: it has a hidden name beside its place then, and stays locked.
    pub(crate) fn park(mut self) -> Result<ParkedFile, WriteError> {
        let mut parked = self.hide()?;
        parked._locked = kept_open(&self.file);
        Ok(parked)
    }

    /// Gives it a hidden name; who asks for that keeps it locked.
    pub(crate) fn hide(&mut self) -> Result<ParkedFile, WriteError> {
        let target = self.target.clone();
        if let Some(hidden) = self.hidden.take() {
            return Ok(ParkedFile::new(target, hidden));
        }
        let linked = target.hide(|hidden| self.link(hidden));
        let ((), hidden) =
            linked.map_err(|error| WriteError::io(&target.path, "writing it")(error.into()))?;
        Ok(ParkedFile::new(target, hidden))
    }
}

/// A file on the disk that is not open, by its hidden name. It goes with this value.
#[derive(Debug)]
pub(crate) struct ParkedFile {
    pub(crate) target: Target,
    /// None once it has its name.
    pub(crate) hidden: Option<OsString>,
    /// Keeps it locked.
    _locked: Option<memmap2::Mmap>,
}

impl Drop for ParkedFile {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            // Whatever went wrong before is what matters.
            let _ = self.target.folder.remove(hidden);
        }
    }
}

impl ParkedFile {
    pub(crate) fn new(target: Target, hidden: OsString) -> ParkedFile {
        ParkedFile { target, hidden: Some(hidden), _locked: None }
    }

    /// As [`NewFile::name`].
    pub(crate) fn name(self) -> Result<Target, WriteError> {
        self.moved("giving it its name", Target::name)
    }

    /// As [`NewFile::replace`].
    pub(crate) fn replace(self) -> Result<Target, WriteError> {
        self.moved("replacing it", |target, hidden| {
            target.folder.rename(hidden, &target.name, RenameFlags::empty())
        })
    }

    fn moved(
        mut self,
        doing: &'static str,
        to: impl Fn(&Target, &OsStr) -> Result<(), Errno>,
    ) -> Result<Target, WriteError> {
        let target = self.target.clone();
        let hidden = self.hidden.as_deref().unwrap_or_default();
        to(&target, hidden).map_err(|error| target.error(doing, error))?;
        self.hidden = None;
        Ok(target)
    }
}

/// Writes pieces with few calls, and one that is all there is without copying it.
pub(crate) fn write_all<'a>(
    mut file: &File,
    mut pieces: impl Iterator<Item = &'a [u8]>,
) -> io::Result<()> {
    let first = pieces.next().unwrap_or(&[]);
    let Some(second) = pieces.next() else { return file.write_all(first) };
    let mut out = BufWriter::with_capacity(BUFFER, file);
    for piece in [first, second].into_iter().chain(pieces) {
        out.write_all(piece)?;
    }
    out.flush()
}

/// Whether files without names can get one, which needs /proc (open(2), O_TMPFILE).
fn can_be_named() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| Path::new("/proc/self/fd").exists())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use crate::Draft;
    use std::fs;

    #[test]
    fn a_file_is_locked_while_it_has_a_hidden_name_and_not_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let new = NewFile::create(&Folder::of(&path).unwrap(), &path, Permit::Created(0o644));
        let mut new = new.unwrap();
        let parked = new.hide().unwrap();
        assert!(!Draft::remove_left(&path).unwrap(), "somebody is at work on it");
        // As a process that another thread is starting has it, too.
        let of_a_child = new.file.try_clone().unwrap();
        new.hidden = { parked }.hidden.take();
        new.replace().unwrap();
        File::open(&path).unwrap().try_lock().unwrap();
        drop(of_a_child);
    }

    #[test]
    fn many_write_one_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let write = |by: u8| {
            for _ in 0..200 {
                crate::write_over(&path, &[by; 100], Permit::Created(0o644)).unwrap();
                let draft = Draft::create(&path).unwrap();
                { draft.file() }.write_all(&[by; 100]).unwrap();
                draft.replace().unwrap();
                Draft::remove_left(&path).unwrap();
            }
        };
        std::thread::scope(|scope| {
            let threads = [1, 2, 3, 4].map(|by| scope.spawn(move || write(by)));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        let content = fs::read(&path).unwrap();
        assert!(content.len() == 100 && content.iter().all(|byte| *byte == content[0]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
