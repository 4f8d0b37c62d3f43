//! Writing one file: a new one, or over an older version.

use crate::content::Content;
use crate::folder::Folder;
use crate::new_file::NewFile;
use crate::{Edited, WriteError};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
    pub(crate) fn of_present(path: &Path, new: Permit) -> Permit {
        let present = path.metadata().map(|data| data.permissions().mode() & 0o777);
        present.map_or(new, Permit::Exactly)
    }

    pub(crate) fn mode(self) -> u32 {
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

/// Makes sure that the names in the folder of `path` are on the disk. One that may be written to but
/// not read cannot be asked to.
///
/// # Errors
/// What the system says.
pub fn sync_folder_of(path: &Path) -> Result<(), WriteError> {
    Folder::of(path)?.sync()
}

fn absent(path: &Path) -> Result<(), WriteError> {
    match path.symlink_metadata() {
        Ok(_) => Err(WriteError::Exists(path.to_owned())),
        Err(_) => Ok(()),
    }
}
