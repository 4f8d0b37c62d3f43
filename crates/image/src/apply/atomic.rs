//! A file appears whole, or not at all: it has no name until it is on the disk.

use super::ApplyError;
use super::content::Content;
use crate::Edited;
use rustix::fs::{AtFlags, CWD, RenameFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Size of the writes.
const BUFFER: usize = 1 << 20;

/// Writes a new file with these permissions (`0o755`); an existing one is never replaced.
///
/// # Errors
/// There is one already, its folder cannot be written to, or the disk is full; nothing is left
/// then.
pub fn write_new<'a>(
    path: &Path,
    pieces: impl Iterator<Item = &'a [u8]>,
    mode: u32,
) -> Result<(), ApplyError> {
    if path.symlink_metadata().is_ok() {
        return Err(ApplyError::Exists(path.to_owned()));
    }
    Unnamed::write(path, pieces, mode)?.name(path)?;
    sync_folder(path)
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
) -> Result<(), ApplyError> {
    if path.symlink_metadata().is_ok() {
        return Err(ApplyError::Exists(path.to_owned()));
    }
    let content = Content::of(edited, original);
    let new = Unnamed::made(path, mode, |file| content.write(file));
    content.unless_changed(original, new)?.name(path)?;
    sync_folder(path)
}

/// Writes a rewritten image into an empty file, as [`write_new_edited`] does.
///
/// # Errors
/// What the system says, or `original` was changed meanwhile.
pub fn write_into(file: &File, edited: &Edited<'_>, original: &Path) -> std::io::Result<()> {
    let content = Content::of(edited, original);
    let written = content.write(file);
    content.unless_changed(original, Ok(())).map_err(std::io::Error::other)?;
    written
}

/// Makes sure that the names of these files are on the disk: once for each folder.
pub(super) fn sync_folders<'a>(files: impl Iterator<Item = &'a Path>) -> Result<(), ApplyError> {
    let folders: BTreeMap<&Path, &Path> = files.map(|file| (folder(file), file)).collect();
    folders.into_values().try_for_each(sync_folder)
}

/// Writes a file of headstart's own: a new one, or over an older version, whose permissions it
/// keeps.
///
/// # Errors
/// Its folder cannot be written to, or the disk is full; it is as it was then.
pub fn write_over(path: &Path, content: &[u8]) -> Result<(), ApplyError> {
    let mode = path.metadata().map_or(0o644, |data| data.permissions().mode() & 0o777);
    Unnamed::write(path, std::iter::once(content), mode)?.replace(path)?;
    sync_folder(path)
}

/// A file on the disk that has no name yet, or, on file systems without such files, a hidden one.
#[derive(Debug)]
pub(super) struct Unnamed {
    pub(super) file: File,
    /// Its name, where it has one.
    hidden: Option<PathBuf>,
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            // Whatever went wrong before is what matters.
            let _ = std::fs::remove_file(hidden);
        }
    }
}

impl Unnamed {
    /// A file that is to be at `path`, written and on the disk.
    pub(super) fn write<'a>(
        path: &Path,
        pieces: impl Iterator<Item = &'a [u8]>,
        mode: u32,
    ) -> Result<Unnamed, ApplyError> {
        let new = Unnamed::unsynced(path, pieces, mode)?;
        new.file.sync_all().map_err(ApplyError::io(path, "writing it"))?;
        Ok(new)
    }

    /// A file that is to be at `path`, written by `write` and on the disk.
    pub(super) fn made(
        path: &Path,
        mode: u32,
        write: impl FnOnce(&File) -> std::io::Result<()>,
    ) -> Result<Unnamed, ApplyError> {
        let new = Unnamed::filled(path, mode, write)?;
        new.file.sync_all().map_err(ApplyError::io(path, "writing it"))?;
        Ok(new)
    }

    /// A file that is to be at `path`, written.
    pub(super) fn unsynced<'a>(
        path: &Path,
        pieces: impl Iterator<Item = &'a [u8]>,
        mode: u32,
    ) -> Result<Unnamed, ApplyError> {
        Unnamed::filled(path, mode, |file| write_all(file, pieces))
    }

    fn filled(
        path: &Path,
        mode: u32,
        write: impl FnOnce(&File) -> std::io::Result<()>,
    ) -> Result<Unnamed, ApplyError> {
        let new =
            Unnamed::create(path, mode).map_err(ApplyError::io(path, "writing its folder"))?;
        let fill = || {
            write(&new.file)?;
            if new.file.metadata()?.permissions().mode() & 0o7777 != mode {
                new.file.set_permissions(Permissions::from_mode(mode))?;
            }
            Ok(())
        };
        fill().map_err(ApplyError::io(path, "writing it"))?;
        Ok(new)
    }

    /// Without a name it has its permissions at once, as far as umask(2) leaves them.
    fn create(path: &Path, mode: u32) -> std::io::Result<Unnamed> {
        let flags = rustix::fs::OFlags::TMPFILE.bits() as i32;
        let folder = folder(path);
        let open = OpenOptions::new().write(true).custom_flags(flags).mode(mode).open(folder);
        match open {
            Ok(file) if can_be_named() => {
                return Ok(Unnamed { file, hidden: None });
            }
            Err(error) if !without_unnamed(&error) => return Err(error),
            _ => {}
        }
        let hidden = hidden(path, "tmp");
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&hidden)?;
        Ok(Unnamed { file, hidden: Some(hidden) })
    }

    /// Gives a file without a name one: by its descriptor, which Linux permits since 6.10 and to
    /// root, else through /proc, which takes longer (open(2), O_TMPFILE).
    fn link(&self, path: &Path) -> Result<(), Errno> {
        match rustix::fs::linkat(&self.file, "", CWD, path, AtFlags::EMPTY_PATH) {
            Err(Errno::NOENT | Errno::INVAL | Errno::PERM) => {
                let from = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                rustix::fs::linkat(CWD, from, CWD, path, AtFlags::SYMLINK_FOLLOW)
            }
            linked => linked,
        }
    }

    /// Gives it its name, which nothing may have.
    pub(super) fn name(mut self, path: &Path) -> Result<(), ApplyError> {
        let named = match &self.hidden {
            None => self.link(path),
            Some(hidden) => {
                rustix::fs::renameat_with(CWD, hidden, CWD, path, RenameFlags::NOREPLACE)
            }
        };
        match named {
            Ok(()) => {
                self.hidden = None;
                Ok(())
            }
            Err(Errno::EXIST) => Err(ApplyError::Exists(path.to_owned())),
            Err(error) => Err(ApplyError::io(path, "giving it its name")(error.into())),
        }
    }

    /// Puts it in the place of another file, in one step.
    pub(super) fn replace(self, path: &Path) -> Result<(), ApplyError> {
        self.park(path)?.replace(path)
    }

    /// Closes it: it has a hidden name beside `path` then.
    pub(super) fn park(mut self, path: &Path) -> Result<Parked, ApplyError> {
        let failed = ApplyError::io(path, "writing it");
        if let Some(hidden) = self.hidden.take() {
            return Ok(Parked(hidden));
        }
        let hidden = hidden(path, "new");
        // Left by a run that was killed.
        match std::fs::remove_file(&hidden) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        self.link(&hidden).map_err(|error| failed(error.into()))?;
        Ok(Parked(hidden))
    }
}

/// A file on the disk that is not open, by its hidden name. It goes with this value.
#[derive(Debug)]
pub(super) struct Parked(PathBuf);

impl Drop for Parked {
    fn drop(&mut self) {
        // It is not there any more where it got its name.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Parked {
    /// As [`Unnamed::name`].
    pub(super) fn name(self, path: &Path) -> Result<(), ApplyError> {
        match rustix::fs::renameat_with(CWD, &self.0, CWD, path, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(ApplyError::Exists(path.to_owned())),
            Err(error) => Err(ApplyError::io(path, "giving it its name")(error.into())),
        }
    }

    /// As [`Unnamed::replace`].
    pub(super) fn replace(self, path: &Path) -> Result<(), ApplyError> {
        std::fs::rename(&self.0, path).map_err(ApplyError::io(path, "replacing it"))
    }
}

/// Writes pieces with few calls, and one that is all there is without copying it.
pub(super) fn write_all<'a>(
    mut file: &File,
    mut pieces: impl Iterator<Item = &'a [u8]>,
) -> std::io::Result<()> {
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

/// Whether files without names are what the file system does not have (open(2), O_TMPFILE).
fn without_unnamed(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::IsADirectory)
}

fn hidden(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.headstart-{suffix}"))
}

pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes sure that names in a file's folder are on the disk.
pub(super) fn sync_folder(path: &Path) -> Result<(), ApplyError> {
    let synced = File::open(folder(path)).and_then(|folder| folder.sync_all());
    synced.map_err(ApplyError::io(path, "writing its folder"))
}
