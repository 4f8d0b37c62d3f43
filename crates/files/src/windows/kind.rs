//! What stands in a folder and is no regular file, and names that mean devices.

use std::ffi::OsStr;
use std::fs::FileType;
use std::path::Path;

/// What to call an entry that is not a regular file: a folder, or else a symbolic link.
pub fn kind_name(kind: FileType) -> &'static str {
    if kind.is_dir() { "folder" } else { "symbolic link" }
}

/// What it is called in a sentence.
pub(crate) fn describe(kind: FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "a device" }
}

/// Whether the path is that of a device or a pipe, which nothing may replace: one of the names that
/// mean a device in every folder (Naming Files, Paths, and Namespaces), or below `\\.\`.
pub fn is_device(path: &Path) -> bool {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    if path.as_os_str().as_encoded_bytes().starts_with(br"\\.\") {
        return true;
    }
    let stem = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let stem = stem.split(['.', ':']).next().unwrap_or_default().trim_end().to_owned();
    let numbered = |name: &str| {
        let number = stem.strip_prefix(name);
        number.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
    };
    DEVICES.contains(&&*stem) || numbered("com") || numbered("lpt")
}

/// Why no file should have this name, which other programs could not open; `None` where one can.
pub(crate) fn no_name(name: &OsStr) -> Option<&'static str> {
    if is_device(Path::new(name)) {
        return Some("it is the name of a device; choose another name");
    }
    let ends_badly =
        name.as_encoded_bytes().ends_with(b".") || name.as_encoded_bytes().ends_with(b" ");
    ends_badly.then_some("names on Windows do not end with a dot or a space; choose another name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_known_in_any_folder() {
        for device in ["NUL", r"C:\x\nul", "con", "COM1", "lpt9.txt", r"\\.\pipe\x", "CONOUT$"] {
            assert!(is_device(Path::new(device)), "{device}");
        }
        for file in ["null", "console", "com", "com0", "com12", r"nul\x", "x.nul"] {
            assert!(!is_device(Path::new(file)), "{file}");
        }
    }
}
