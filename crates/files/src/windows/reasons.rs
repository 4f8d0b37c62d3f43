//! What errors mean here, and the next step.

use super::patience::is_in_use;
use std::io::{Error, ErrorKind};
use std::path::Path;
use windows_sys::Win32::Foundation::ERROR_TOO_MANY_OPEN_FILES;

/// What helps where too many files are open.
pub(crate) const FILES: &str = "close other programs";
/// What helps where a file may become no larger.
pub(crate) const SIZE: &str = "choose another place";
/// Who may read what this user may not.
pub(crate) const READER: &str = "run as a user who may read it, or as administrator";

/// Whether too many files are open. An error that names a temporary file has no number but in its
/// words.
pub(crate) fn too_many(words: &str) -> bool {
    words.ends_with(&format!("(os error {ERROR_TOO_MANY_OPEN_FILES})"))
}

/// Why the path takes no file, where that is no matter of permissions.
pub(crate) fn in_the_way(_path: &Path, _kind: ErrorKind, words: &str) -> Option<String> {
    let number = words.rsplit_once("(os error ")?.1.strip_suffix(')')?.parse().ok()?;
    is_in_use(&Error::from_raw_os_error(number)).then(|| {
        format!(
            "a program has it open, perhaps a virus scanner ({words}); close that, and try again"
        )
    })
}

/// What keeps this user from the file: the attribute that it is read-only, or its access list.
pub(crate) fn closed(path: &Path) -> String {
    let there = path.ancestors().find_map(|way| Some((way, way.metadata().ok()?)));
    match there {
        Some((way, data)) if way == path && data.permissions().readonly() => {
            "it is marked as read-only: attrib -r clears that".to_owned()
        }
        Some((way, _)) if way == path => "its access list does not let this user".to_owned(),
        Some((way, _)) => {
            format!("the access list of folder {} does not let this user", way.display())
        }
        None => "its access list is not known".to_owned(),
    }
}
