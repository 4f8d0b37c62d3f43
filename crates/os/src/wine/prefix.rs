//! A prefix that holds no more than programs without a window need.
//!
//! A prefix as Wine makes it takes 10 s and 700 MB, nearly all of it copies of Wine's own
//! libraries. Wine leaves a prefix as it is where `.update-timestamp` says `disable`, and loads
//! programs where these three libraries are in it.

use super::WineError;
use std::path::Path;
use tempfile::TempDir;

/// The libraries that Wine loads by their path in the prefix. Copies, not links: what a program
/// does to them happens to nobody else's.
const LIBRARIES: [&str; 3] = ["ntdll.dll", "kernel32.dll", "kernelbase.dll"];

/// Makes the prefix in the folder for temporary files.
pub fn make(libraries: &Path) -> Result<TempDir, WineError> {
    let parent = std::env::temp_dir();
    let made = tempfile::Builder::new().prefix("headstart-wine-").tempdir_in(&parent);
    let prefix = made.map_err(|source| WineError::Prefix { path: parent, source })?;
    let failed = |path: &Path, source| WineError::Prefix { path: path.to_owned(), source };
    let system = prefix.path().join("drive_c/windows/system32");
    std::fs::create_dir_all(&system).map_err(|error| failed(&system, error))?;
    let stamp = prefix.path().join(".update-timestamp");
    std::fs::write(&stamp, "disable\n").map_err(|error| failed(&stamp, error))?;
    for name in LIBRARIES {
        let copy = system.join(name);
        std::fs::copy(libraries.join(name), &copy).map_err(|error| failed(&copy, error))?;
    }
    Ok(prefix)
}
