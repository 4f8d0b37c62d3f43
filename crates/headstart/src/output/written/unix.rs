//! Files by their kind and mode.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

/// Whether opening it may take for ever; not so a pipe that is open already, as a shell names it
/// (/dev/fd/63, /dev/stdout).
pub fn is_named_pipe(path: &Path) -> bool {
    let is_open = path.starts_with("/dev") || path.starts_with("/proc");
    !is_open && path.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

/// Whether the name is that of a device in every folder: here devices are files, which can be written.
pub fn is_named_device(_path: &Path) -> bool {
    false
}

/// Whether it is marked as a program.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
