//! Errors that say something of the disk, and nothing of the file.

use std::io::{self, ErrorKind};

/// EIO, which has no kind of its own.
const INPUT_OUTPUT_ERROR: i32 = 5;

/// Whether there is no room to write: full, over quota, over a limit of size, read-only.
pub fn is_without_room(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::FileTooLarge
            | ErrorKind::ReadOnlyFilesystem
    )
}

/// Whether the disk itself is at fault: without room, or broken.
pub fn is_of_disk(error: &io::Error) -> bool {
    is_without_room(error) || error.raw_os_error() == Some(INPUT_OUTPUT_ERROR)
}
