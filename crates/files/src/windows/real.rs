//! Paths without links, and without the prefix that they need to be long.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use windows_sys::Win32::Foundation::ERROR_MORE_DATA;

/// What tells names in a folder apart: case makes no difference.
pub fn name_key(name: &OsStr) -> OsString {
    match name.to_str() {
        Some(text) => text.to_lowercase().into(),
        None => name.to_ascii_lowercase(),
    }
}

pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    match dunce::canonicalize(path) {
        // Wine 8.0 says so of long paths. They have no links there that Windows would know.
        Err(error) if error.raw_os_error() == Some(ERROR_MORE_DATA.cast_signed()) => {
            std::path::absolute(path)
        }
        real => real,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_paths_are_those_that_people_write() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a").join("file");
        std::fs::create_dir(place.path().join("a")).unwrap();
        std::fs::write(&file, "").unwrap();
        let real = real_path(&place.path().join("a").join("..").join("a").join("file")).unwrap();
        assert!(real.is_absolute() && real.ends_with("file"), "{real:?}");
        assert!(!real.to_string_lossy().starts_with(r"\\?\"), "{real:?}");
    }

    #[test]
    fn a_long_path_has_a_real_one() {
        let place = tempfile::tempdir().unwrap();
        let long = place.path().join("x".repeat(150)).join("y".repeat(150));
        std::fs::create_dir_all(&long).unwrap();
        std::fs::write(long.join("file"), "").unwrap();
        assert!(real_path(&long.join("file")).unwrap().ends_with("file"));
        assert!(real_path(&long.join("gone")).is_err());
    }
}
