//! Regular files, mapped read-only.

use crate::host::kind::describe;
use std::fs::File;
use std::io;
use std::path::Path;

/// Why a file was not mapped.
#[derive(Debug)]
pub enum MapError {
    /// The system refused.
    Io(io::Error),
    /// It is no regular file, but this.
    NotAFile(&'static str),
}

/// A regular file and its bytes, mapped read-only; `None` for an empty one.
///
/// Nothing is opened that is not a regular file: opening a pipe or a device can block or act.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub fn map(path: &Path) -> Result<Option<(File, memmap2::Mmap)>, MapError> {
    let metadata = std::fs::metadata(path).map_err(MapError::Io)?;
    if !metadata.is_file() {
        return Err(MapError::NotAFile(describe(metadata.file_type())));
    }
    let file = File::open(path).map_err(MapError::Io)?;
    if metadata.len() == 0 {
        return Ok(None);
    }
    // SAFETY: the mapping is private to this process and never written through. Somebody who
    // changes the file meanwhile changes bytes that are only ever read as plain integers; whoever
    // truncates it ends this process with SIGBUS, of which the command tells.
    #[allow(unsafe_code)]
    let bytes = unsafe { memmap2::Mmap::map(&file) }.map_err(MapError::Io)?;
    Ok(Some((file, bytes)))
}
