use crate::ImageError;
use std::fs::{File, FileType};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// A regular file and its bytes, mapped read-only; `None` for an empty one.
///
/// Nothing is opened that is not a regular file: opening a pipe or a device can block or act.
pub(crate) fn map(path: &Path) -> Result<Option<(File, memmap2::Mmap)>, ImageError> {
    let io = |source| ImageError::Io { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(io)?;
    if !metadata.is_file() {
        let found = describe(metadata.file_type());
        return Err(ImageError::NotAFile { path: path.to_owned(), found });
    }
    let file = File::open(path).map_err(io)?;
    if metadata.len() == 0 {
        return Ok(None);
    }
    // SAFETY: the mapping is private to this process and never written through. Somebody who
    // changes the file meanwhile changes bytes that are only ever read as plain integers; one who
    // truncates it can end this process with SIGBUS, as with every program that maps files.
    #[allow(unsafe_code)]
    let bytes = unsafe { memmap2::Mmap::map(&file) }.map_err(io)?;
    Ok(Some((file, bytes)))
}

fn describe(kind: FileType) -> &'static str {
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
