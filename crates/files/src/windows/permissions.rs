//! Modes, of which Windows has only whether a file is read-only, and what else a file has that
//! rewriting keeps.

use super::attributes::{copy_access_list, copy_marks, copy_streams};
use super::wine;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// The mode that a file like this would have on Linux.
pub fn mode(data: &Metadata) -> u32 {
    if data.permissions().readonly() { 0o444 } else { 0o644 }
}

/// A new file.
///
/// # Errors
/// What the system says, or there is such a file.
pub fn create_new(path: &Path, _mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// New files have the access list of their folder.
pub(crate) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// The mode with which a file is written that is to have this one.
pub(crate) fn while_written(mode: u32) -> u32 {
    mode
}

/// The access list, the streams of other names and the marks stay the same.
pub(crate) fn keep(
    real: &Path,
    new: &File,
    path: &Path,
    data: &Metadata,
    _mode: u32,
) -> io::Result<()> {
    copy_streams(real, path)?;
    // Wine derives access lists from Unix modes: copying one would change the mode.
    if !wine::is_here() {
        copy_access_list(&File::open(real)?, new)?;
    }
    copy_marks(data, path)?;
    new.sync_all()
}
