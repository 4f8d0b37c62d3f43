//! What an error of the system means for a file: what was found, and the next step, in words that
//! follow the path.

use crate::host;
use crate::host::reasons::{FILES, READER, SIZE, closed, too_many};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Why the file or folder at `path` was not read.
pub fn unread(path: &Path, error: &Error) -> String {
    match error.kind() {
        _ if no_working_folder(path) => GONE.to_owned(),
        _ if too_many(&plain(error)) => format!("{}; {FILES}", plain(error)),
        ErrorKind::InvalidFilename if is_pattern(path) => {
            "no file matches this pattern; check it".to_owned()
        }
        ErrorKind::PermissionDenied => {
            format!("it may not be read ({}); {READER}", closed(path))
        }
        _ => plain(error),
    }
}

/// Why nothing could be written at `path`, a file or a folder for files, and the next step.
pub fn unwritten(path: &Path, error: &Error) -> String {
    let found = in_the_way(path, error);
    let step = match error.kind() {
        ErrorKind::StorageFull => "make room there, or choose another place",
        ErrorKind::QuotaExceeded => "remove files of yours there, or choose another place",
        ErrorKind::FileTooLarge => SIZE,
        ErrorKind::DirectoryNotEmpty => "name a new or an empty folder",
        // It names its own.
        _ if found.contains("; ") => return found,
        _ => "choose another place",
    };
    format!("{found}; {step}")
}

/// What kept anything from being written at `path`.
pub fn in_the_way(path: &Path, error: &Error) -> String {
    match error.kind() {
        _ if no_working_folder(path) => GONE.to_owned(),
        _ if too_many(&plain(error)) => format!("{}; {FILES}", plain(error)),
        ErrorKind::DirectoryNotEmpty => "it is not empty".to_owned(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => match no_folder(path) {
            Some(file) if file == path => "it is a file, not a folder".to_owned(),
            Some(file) => format!("{} is a file, not a folder", file.display()),
            None => plain(error),
        },
        kind => match host::reasons::in_the_way(path, kind, &plain(error)) {
            Some(found) => found,
            None if kind == ErrorKind::PermissionDenied => {
                format!("Permission denied ({})", closed(path))
            }
            None => plain(error),
        },
    }
}

const GONE: &str = "the working folder is not there any more; go to another one (cd)";

fn is_pattern(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte))
}

/// In the system's words, without the path of a temporary file.
fn plain(error: &Error) -> String {
    let words = error.to_string();
    words.split(" at path \"").next().unwrap_or_default().to_owned()
}

fn no_working_folder(path: &Path) -> bool {
    path.is_relative() && Path::new(".").canonicalize().is_err()
}

/// What of the path is there and no folder.
fn no_folder(path: &Path) -> Option<PathBuf> {
    let mut ways = path.ancestors();
    ways.find(|way| way.metadata().is_ok_and(|data| !data.is_dir())).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn what_is_in_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        write(&file, "").unwrap();
        let said = unwritten(&file, &create_dir_all(&file).unwrap_err());
        assert_eq!(said, "it is a file, not a folder; choose another place");
        let below = file.join("below");
        let said = unwritten(&below, &create_dir_all(&below).unwrap_err());
        assert_eq!(
            said,
            format!("{} is a file, not a folder; choose another place", file.display())
        );
        assert_eq!(
            unwritten(folder.path(), &ErrorKind::DirectoryNotEmpty.into()),
            "it is not empty; name a new or an empty folder"
        );
    }
}
