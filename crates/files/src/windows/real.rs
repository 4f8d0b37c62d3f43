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
        real => Ok(without_prefix(real?)),
    }
}

/// The path as people write it, where that means the same: also of shares, and however long it is, as
/// the standard library gives long paths to the system with the prefix.
pub fn without_prefix(real: PathBuf) -> PathBuf {
    let Some(path) = real.to_str().and_then(|path| path.strip_prefix(r"\\?\")) else { return real };
    let (start, rest) = match path.strip_prefix(r"UNC\") {
        Some(rest) => (r"\\", rest),
        None if matches!(path.as_bytes(), [b'A'..=b'Z' | b'a'..=b'z', b':', b'\\', ..]) => {
            ("", path)
        }
        None => return real,
    };
    // Names that mean something else without it, such as NUL and those with a dot at the end.
    let means_itself = |name: &str| {
        let alone = format!(r"\\?\C:\{name}");
        !dunce::simplified(Path::new(&alone)).as_os_str().as_encoded_bytes().starts_with(br"\\?\")
    };
    let names = rest.split('\\').filter(|name| !name.is_empty() && !name.ends_with(':'));
    match names.into_iter().all(means_itself) {
        true => format!("{start}{rest}").into(),
        false => real,
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
    fn the_prefix_goes_where_it_says_nothing() {
        let of = |path: &str| without_prefix(path.into()).to_string_lossy().into_owned();
        assert_eq!(of(r"\\?\C:\x\y.dll"), r"C:\x\y.dll");
        assert_eq!(of(r"\\?\UNC\server\share\y.dll"), r"\\server\share\y.dll");
        let long = format!(r"C:\{}\{}", "x".repeat(200), "y".repeat(200));
        assert_eq!(of(&format!(r"\\?\{long}")), long);
        for other in [r"\\?\C:\x\nul", r"\\?\C:\x.", r"\\?\Volume{1}\x", r"C:\plain"] {
            assert_eq!(of(other), other);
        }
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
