//! Paths without links (realpath(3)).

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// What tells names in a folder apart: themselves.
pub fn name_key(name: &OsStr) -> OsString {
    name.to_owned()
}

pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
