//! Where such files are: recognized, written whole or not at all, and removed.

use super::{InstallError, Installed, desktop, launcher, service};
use files::Permit;
use model::InstalledKind;
use os::prefetch::WITHOUT_WAITING;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The largest desktop entries hold translations into all languages, and have a tenth of this.
pub(super) const MOST_BYTES: u64 = 1 << 20;

/// A file that was removed, or had been before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its path.
    pub path: PathBuf,
    /// What it was; nothing if it was not there.
    pub kind: Option<InstalledKind>,
    /// The recording that was removed with it.
    pub record: Option<PathBuf>,
}

/// What headstart has made this file as, by its content; `None` for any other file.
///
/// # Errors
/// It cannot be read.
pub fn made(path: &Path) -> io::Result<Option<InstalledKind>> {
    let launcher = beginning(path, ahead::MOST_BYTES, ahead::BEGINNING_BYTES)?;
    if launcher.is_some_and(|bytes| launcher::is_marked(&bytes)) {
        return Ok(Some(InstalledKind::Launcher));
    }
    let Some(bytes) = content(path, MOST_BYTES)? else { return Ok(None) };
    Ok(if service::is_marked(&bytes) {
        Some(InstalledKind::DropIn)
    } else if desktop::is_marked(&bytes) {
        Some(InstalledKind::DesktopEntry)
    } else {
        None
    })
}

/// The bytes of a regular file that is no larger than `most`; `None` for what is no such file.
pub(super) fn content(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    beginning(path, most, most)
}

/// The same, of which no more than `wanted` bytes are read.
pub(super) fn beginning(path: &Path, most: u64, wanted: u64) -> io::Result<Option<Vec<u8>>> {
    // Neither a pipe nor a device is opened, and a large program not touched.
    let is_small = |data: &std::fs::Metadata| data.is_file() && data.len() <= most;
    if !is_small(&path.metadata()?) {
        return Ok(None);
    }
    let file = File::options().read(true).custom_flags(WITHOUT_WAITING).open(path)?;
    if !is_small(&file.metadata()?) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(wanted).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes a file where nothing is, or over one of the same kind that headstart has made. Its folder
/// is created.
pub(super) fn put(
    path: &Path,
    bytes: &[u8],
    kind: InstalledKind,
    permit: Permit,
) -> Result<Installed, InstallError> {
    let replaced = may_be_written(path, kind)?;
    let folder = files::folder_of(path);
    std::fs::create_dir_all(folder).map_err(InstallError::io(folder))?;
    match replaced {
        true => files::write_over(path, bytes, permit)?,
        false => files::write_new(path, bytes, permit)?,
    }
    Ok(Installed { path: path.to_owned(), replaced })
}

/// Whether a file can be written at this path, and whether one of headstart's is there.
pub(super) fn may_be_written(path: &Path, kind: InstalledKind) -> Result<bool, InstallError> {
    let refused = |reason: &str| Err(InstallError::refused(path, reason));
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(InstallError::io(path)(error)),
        Ok(data) if data.is_symlink() => {
            refused("there is a link that headstart has not made; it stays as it is")
        }
        Ok(_) => match made(path).map_err(InstallError::io(path))? {
            Some(found) if found == kind => Ok(true),
            _ => refused("there is a file that headstart has not made; it stays as it is"),
        },
    }
}

/// Removes files that headstart has made. All are looked at before the first is removed; one that
/// is not there is no error. Folders stay.
///
/// # Errors
/// One of them is not headstart's, or cannot be removed.
pub fn remove(paths: &[PathBuf]) -> Result<Vec<Removed>, InstallError> {
    let kinds = paths.iter().map(|path| removable(path)).collect::<Result<Vec<_>, _>>()?;
    let mut removed = Vec::new();
    for (path, kind) in paths.iter().zip(kinds) {
        // A path may be given twice.
        let kind = kind.filter(|_| path.symlink_metadata().is_ok());
        if kind.is_some() {
            unlink(path)?;
        }
        // After its drop-in, so that no service ever names a recording that is not there.
        let record = service::record_beside(path);
        if let Some(record) = &record {
            unlink(record)?;
        }
        removed.push(Removed { path: path.clone(), kind, record });
    }
    Ok(removed)
}

fn removable(path: &Path) -> Result<Option<InstalledKind>, InstallError> {
    let refused = |reason: &str| Err(InstallError::refused(path, reason));
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(InstallError::io(path)(error)),
        Ok(data) if data.is_symlink() => refused(
            "it is a link, which headstart does not make, so it stays; name the file that it leads to",
        ),
        Ok(_) => match made(path).map_err(InstallError::io(path))? {
            Some(kind) => Ok(Some(kind)),
            None => refused("headstart has not made this file, so it stays"),
        },
    }
}

fn unlink(path: &Path) -> Result<(), InstallError> {
    std::fs::remove_file(path).map_err(InstallError::io(path))?;
    // It is gone in any case; that its folder is on the disk only matters after a power failure.
    let _ = files::sync_folder_of(path);
    Ok(())
}
