//! A file appears whole, or not at all: it has no name until it is on the disk.

use crate::folder::{Folder, Target, folder_of};
use crate::host::lock::{KeptOpen, Renaming, hold};
use crate::host::permissions::set_mode;
use crate::{Permit, WriteError};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Size of the writes.
const BUFFER: usize = 1 << 20;

/// A file on the disk that has no name yet, or, on file systems without such files, a hidden one.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) file: File,
    target: Target,
    permit: Permit,
    /// By its hidden name, where it has one.
    parked: Option<ParkedFile>,
}

impl NewFile {
    /// An empty file that is to be at `path`, in this folder.
    pub(crate) fn create(
        folder: &Arc<Folder>,
        path: &Path,
        permit: Permit,
    ) -> Result<NewFile, WriteError> {
        let target = Target::new(folder, path)?;
        let mode = permit.mode();
        let failed = WriteError::io(path, "writing its folder");
        let (file, parked) = match folder.opened.nameless(mode).map_err(&failed)? {
            Some(file) => (file, None),
            None => {
                let (file, hidden) = target.create_hidden(mode).map_err(&failed)?;
                (file, Some(ParkedFile::new(target.clone(), hidden)))
            }
        };
        // Before it has a name by which others could find it.
        hold(&file);
        Ok(NewFile { file, target, permit, parked })
    }

    /// Where it is for now, where it has a name.
    pub(crate) fn path(&self) -> PathBuf {
        let hidden = self.parked.as_ref().and_then(|parked| parked.hidden.as_deref());
        folder_of(&self.target.path).join(hidden.unwrap_or_default())
    }

    /// Gives it its content and permissions.
    pub(crate) fn fill(
        self,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<NewFile, WriteError> {
        let fill = || {
            write(&self.file)?;
            match self.permit {
                Permit::Exactly(mode) => set_mode(&self.file, mode),
                Permit::Created(_) => Ok(()),
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

    /// Gives it its name, which nothing may have.
    pub(crate) fn name(self) -> Result<Target, WriteError> {
        let NewFile { file, target, parked, .. } = self;
        let Some(parked) = parked else {
            let named = target.folder.opened.name(&file, &target.name);
            let _open = Renaming::of(file);
            named.map_err(|error| target.error("giving it its name", error))?;
            return Ok(target);
        };
        let _open = Renaming::of(file);
        parked.name()
    }

    /// Puts it in the place of another file, in one step.
    pub(crate) fn replace(self) -> Result<Target, WriteError> {
        let (file, parked) = self.hide()?;
        let _open = Renaming::of(file);
        parked.replace()
    }

    /// Closes it: it has a hidden name beside its place then, and stays locked.
    pub(crate) fn park(self) -> Result<ParkedFile, WriteError> {
        let (file, mut parked) = self.hide()?;
        parked._locked = Some(KeptOpen::of(&file));
        Ok(parked)
    }

    /// Gives it a hidden name; who asks for that keeps it locked.
    pub(crate) fn hide(self) -> Result<(File, ParkedFile), WriteError> {
        let NewFile { file, target, parked, .. } = self;
        if let Some(parked) = parked {
            return Ok((file, parked));
        }
        let linked = target.hide(|hidden| target.folder.opened.name(&file, hidden));
        let ((), hidden) = linked.map_err(WriteError::io(&target.path, "writing it"))?;
        Ok((file, ParkedFile::new(target, hidden)))
    }
}

/// A file on the disk that is not open, by its hidden name. It goes with this value.
#[derive(Debug)]
pub(crate) struct ParkedFile {
    pub(crate) target: Target,
    /// None once it has its name.
    pub(crate) hidden: Option<OsString>,
    /// Keeps it locked.
    _locked: Option<KeptOpen>,
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
            target.folder.opened.rename(hidden, &target.name)
        })
    }

    fn moved(
        mut self,
        doing: &'static str,
        to: impl Fn(&Target, &OsStr) -> io::Result<()>,
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
