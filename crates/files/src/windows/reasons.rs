//! What errors mean here, and the next step.

use super::patience::is_in_use;
use std::io::{Error, ErrorKind};
use std::path::Path;
use windows_sys::Win32::Foundation::ERROR_TOO_MANY_OPEN_FILES;

/// What helps where too many files are open.
pub(crate) const FILES: &str = "close other programs";
/// What helps where a file may become no larger.
pub(crate) const SIZE: &str = "choose another place";
/// The next step where this user may not read a file.
pub(crate) const READER: &str = "run as a user who may read it, or as administrator";

/// Whether too many files are open. An error that names a temporary file has no number but in its
/// words.
pub(crate) fn too_many(words: &str) -> bool {
    words.ends_with(&format!("(os error {ERROR_TOO_MANY_OPEN_FILES})"))
}

/// Why the path takes no file, where that is no matter of permissions.
pub(crate) fn in_the_way(path: &Path, kind: ErrorKind, words: &str) -> Option<String> {
    let number = words.rsplit_once("(os error ")?.1.strip_suffix(')')?.parse().ok()?;
    if is_in_use(&Error::from_raw_os_error(number)) {
        let found = "a program has it open, perhaps a virus scanner";
        return Some(format!("{found} ({words}); close that, and try again"));
    }
    let is_denied = kind == ErrorKind::PermissionDenied;
    let is_marked =
        path.metadata().is_ok_and(|data| data.is_file() && data.permissions().readonly());
    (is_denied && is_marked)
        .then(|| "it is marked as read-only; clear the mark first: attrib -r \"FILE\"".to_owned())
}

/// What keeps this user from the file. A file that is open is also said to be denied.
pub(crate) fn closed(path: &Path) -> String {
    let there = path.ancestors().find(|way| way.metadata().is_ok());
    match there {
        Some(way) if way == path => {
            "its access list does not permit it, or a program has it open".to_owned()
        }
        Some(way) => format!("the access list of the folder {} does not permit it", way.display()),
        None => "its access list could not be read".to_owned(),
    }
}
