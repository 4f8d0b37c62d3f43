//! What stands in a folder and is no regular file.

use std::ffi::OsStr;
use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// What to call an entry that is not a regular file.
pub fn kind_name(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "folder"
    } else if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else if kind.is_char_device() {
        "character device"
    } else if kind.is_block_device() {
        "block device"
    } else {
        "symbolic link"
    }
}

/// What it is called in a sentence.
pub(crate) fn describe(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// Whether there is something at the path that nothing may replace, such as a device or a pipe.
pub(crate) fn is_device(path: &Path) -> bool {
    path.exists() && !path.is_file()
}

/// Why no file can have this name; `None` where one can.
pub(crate) fn no_name(_name: &OsStr) -> Option<&'static str> {
    None
}
