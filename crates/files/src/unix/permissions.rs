//! Modes (inode(7)), and what else a file has that rewriting keeps.

use super::attributes::Attributes;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

/// Without it nobody but root sets attributes (xattr(7)).
const OWNER_WRITES: u32 = 0o200;

/// The mode of a file: what its owner, its group and others may do.
pub fn mode(data: &Metadata) -> u32 {
    data.permissions().mode() & 0o7777
}

/// A new file with this mode as far as umask(2) leaves it.
///
/// # Errors
/// What the system says, or there is such a file.
pub fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Gives it exactly this mode.
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    match self::mode(&file.metadata()?) == mode {
        true => Ok(()),
        false => file.set_permissions(Permissions::from_mode(mode)),
    }
}

/// The mode with which a file is written that is to have this one.
pub(crate) fn while_written(mode: u32) -> u32 {
    mode | OWNER_WRITES
}

/// Group and extended attributes, access lists among them, stay the same; then it gets its mode.
pub(crate) fn keep(
    real: &Path,
    new: &File,
    _path: &Path,
    data: &Metadata,
    mode: u32,
) -> io::Result<()> {
    if new.metadata()?.gid() != data.gid() {
        fchown(new, None, Some(data.gid()))?;
    }
    Attributes::of(&File::open(real)?).add_to(new)?;
    new.set_permissions(Permissions::from_mode(mode))?;
    new.sync_all()
}
