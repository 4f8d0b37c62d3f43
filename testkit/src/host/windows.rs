//! What tests need of Windows.

use std::io;
use std::path::Path;

/// A link to `target`, as it is given.
pub fn link(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}

/// The name says what can be executed.
pub fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// No packages are installed on Windows.
pub fn is_root() -> bool {
    false
}
