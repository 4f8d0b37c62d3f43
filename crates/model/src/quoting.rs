//! Words of a command line as the shells of the host take them.

// Both are compiled everywhere, and each host uses its own.
#[cfg_attr(windows, allow(dead_code))]
mod posix;
#[cfg_attr(not(windows), allow(dead_code))]
mod windows;

pub use posix::quoted as quoted_for_posix;
pub use windows::enclosed as enclosed_for_windows;

#[cfg(not(windows))]
pub use posix::{quoted, words};
#[cfg(windows)]
pub use windows::{quoted, words};

use std::path::Path;

/// A path, quoted where it has to be, and never taken for an option.
pub fn quoted_path(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    match path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        true => quoted(Path::new(".").join(path)),
        false => quoted(path),
    }
}

#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_option() {
        let quoted = ["-dash", "-it's", "plain", "/-", ""].map(quoted_path);
        assert_eq!(quoted, ["./-dash", r"'./-it'\''s'", "plain", "/-", "''"]);
    }
}
