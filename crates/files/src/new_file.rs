//! A file appears whole, or not at all: it has no name until it is on the disk.
//!
//! Its folder is opened once, and names are given in what was opened: a folder that somebody renames
//! or replaces meanwhile takes no half of what is written.

use crate::content::Content;
use crate::{Edited, WriteError};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Size of the writes.
const BUFFER: usize = 1 << 20;

/// The permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Exactly these (`0o755`).
    Exactly(u32),
    /// These as far as umask(2) leaves them, as of any file that a user creates.
    Created(u32),
}

impl Permit {
    /// Those of the file at `path`, or else of a new one.
    fn of_present(path: &Path, new: Permit) -> Permit {
        let present = path.metadata().map(|data| data.permissions().mode() & 0o777);
        present.map_or(new, Permit::Exactly)
    }

    fn mode(self) -> u32 {
        match self {
            Permit::Exactly(mode) | Permit::Created(mode) => mode,
        }
    }
}

/// Writes a new file; an existing one is never replaced.
///
/// # Errors
/// There is one already, its folder cannot be written to, or the disk is full; nothing is left
/// then.
pub fn write_new(path: &Path, content: &[u8], permit: Permit) -> Result<(), WriteError> {
    absent(path)?;
    let new = NewFile::create(&Folder::of(path)?, path, permit)?;
    new.fill(|mut file| file.write_all(content))?.synced()?.name()?.sync()
}

/// Writes a rewritten image as a new file. What has not changed is read from the file `original`,
/// where the image is from that: it takes little memory, and holes stay holes.
///
/// # Errors
/// As [`write_new`], or `original` was changed meanwhile.
pub fn write_new_edited(
    path: &Path,
    edited: &Edited<'_>,
    original: &Path,
    mode: u32,
) -> Result<(), WriteError> {
    absent(path)?;
    let content = Content::of(edited, original);
    let new = NewFile::create(&Folder::of(path)?, path, Permit::Exactly(mode))?;
    let new = new.fill(|file| content.write(file)).and_then(NewFile::synced);
    content.unless_changed(original, new)?.name()?.sync()
}

/// Writes a rewritten image into an empty file, as [`write_new_edited`] does.
///
/// # Errors
/// What the system says, or `original` was changed meanwhile.
pub fn write_into(file: &File, edited: &Edited<'_>, original: &Path) -> io::Result<()> {
    let content = Content::of(edited, original);
    let written = content.write(file);
    content.unless_changed(original, Ok(())).map_err(io::Error::other)?;
    written
}

/// Writes a file of headstart's own: a new one with these permissions, or over an older version,
/// whose permissions it keeps.
///
/// # Errors
/// Its folder cannot be written to, or the disk is full; it is as it was then.
pub fn write_over(path: &Path, content: &[u8], permit: Permit) -> Result<(), WriteError> {
    let permit = Permit::of_present(path, permit);
    let new = NewFile::create(&Folder::of(path)?, path, permit)?;
    new.fill(|mut file| file.write_all(content))?.synced()?.replace()?.sync()
}

fn absent(path: &Path) -> Result<(), WriteError> {
    match path.symlink_metadata() {
        Ok(_) => Err(WriteError::Exists(path.to_owned())),
        Err(_) => Ok(()),
    }
}

/// A folder that files are written to, open.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    opened: OwnedFd,
    /// Not where one may write to it but not read it.
    can_be_synced: bool,
}

impl Folder {
    /// The path of the folder that a file is in.
    pub(crate) fn path_of(file: &Path) -> &Path {
        match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// The folder that a file is in.
    pub(crate) fn of(file: &Path) -> Result<Arc<Folder>, WriteError> {
        let path = Folder::path_of(file);
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

    fn rename(&self, from: &OsStr, to: &OsStr, flags: RenameFlags) -> Result<(), Errno> {
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
    fn error(&self, doing: &'static str, error: Errno) -> WriteError {
        match error {
            Errno::EXIST => WriteError::Exists(self.path.clone()),
            error => WriteError::io(&self.path, doing)(error.into()),
        }
    }

    fn hidden(&self, suffix: &str) -> OsString {
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
        let name = path.file_name().unwrap_or_default().to_owned();
        let target = Target { path: path.to_owned(), folder: folder.clone(), name };
        let hidden = target.hidden("tmp");
        let open = |name: &OsStr, flags| {
            let flags = flags | OFlags::WRONLY | OFlags::CLOEXEC;
            openat(&folder.opened, name, flags, Mode::from_raw_mode(permit.mode()))
        };
        let (file, hidden) = match open(OsStr::new("."), OFlags::TMPFILE) {
            Ok(file) if can_be_named() => (Ok(file), None),
            // What file systems without such files say (open(2), O_TMPFILE).
            Ok(_) | Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOSYS) => {
                (open(&hidden, OFlags::CREATE | OFlags::EXCL), Some(hidden))
            }
            Err(error) => (Err(error), None),
        };
        let file =
            file.map_err(|error| WriteError::io(path, "writing its folder")(error.into()))?;
        Ok(NewFile { file: file.into(), target, permit, hidden })
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
        let (target, flags) = (&self.target, RenameFlags::NOREPLACE);
        let named = match &self.hidden {
            None => self.link(&target.name),
            Some(hidden) => target.folder.rename(hidden, &target.name, flags),
        };
        named.map_err(|error| target.error("giving it its name", error))?;
        self.hidden = None;
        Ok(self.target.clone())
    }

    /// Puts it in the place of another file, in one step.
    pub(crate) fn replace(self) -> Result<Target, WriteError> {
        self.park()?.replace()
    }

    /// Closes it: it has a hidden name beside its place then.
    pub(crate) fn park(mut self) -> Result<ParkedFile, WriteError> {
        let target = self.target.clone();
        if let Some(hidden) = self.hidden.take() {
            return Ok(ParkedFile { target, hidden });
        }
        let hidden = target.hidden("new");
        // Left by a run that was killed.
        let free = target.folder.remove(&hidden).and_then(|()| self.link(&hidden));
        free.map_err(|error| WriteError::io(&target.path, "writing it")(error.into()))?;
        Ok(ParkedFile { target, hidden })
    }
}

/// A file on the disk that is not open, by its hidden name. It goes with this value.
#[derive(Debug)]
pub(crate) struct ParkedFile {
    target: Target,
    hidden: OsString,
}

impl Drop for ParkedFile {
    fn drop(&mut self) {
        // It is not there any more where it got its name.
        let _ = self.target.folder.remove(&self.hidden);
    }
}

impl ParkedFile {
    /// As [`NewFile::name`].
    pub(crate) fn name(self) -> Result<Target, WriteError> {
        self.renamed("giving it its name", RenameFlags::NOREPLACE)
    }

    /// As [`NewFile::replace`].
    pub(crate) fn replace(self) -> Result<Target, WriteError> {
        self.renamed("replacing it", RenameFlags::empty())
    }

    fn renamed(self, doing: &'static str, flags: RenameFlags) -> Result<Target, WriteError> {
        let renamed = self.target.folder.rename(&self.hidden, &self.target.name, flags);
        renamed.map_err(|error| self.target.error(doing, error))?;
        Ok(self.target.clone())
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
