//! Where a path really leads.

use crate::host;
use std::io;
use std::path::{Path, PathBuf};

/// The absolute path of a file, links followed. On Windows without the prefix `\\?\`, which is for the
/// system and not for people, wherever the path means the same without it.
///
/// # Errors
/// There is no such file, or it cannot be looked for.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    host::real::real_path(path)
}
