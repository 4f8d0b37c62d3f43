//! What tests need of Unix.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A link to `target`, as it is given.
pub fn link(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Everybody may execute it.
pub fn make_executable(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

/// Whether packages can be installed by this process itself.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
