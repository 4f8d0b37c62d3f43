//! Names of DLLs as loaders compare them.

use std::path::Path;

/// The name that a loader looks for: in lower case, and with `.dll` where it has no extension.
///
/// Source: *LoadLibraryW*, the remarks on names without an extension; an import or forwarder
/// follows the same rule.
pub fn key(name: &[u8]) -> Vec<u8> {
    let mut key = name.to_ascii_lowercase();
    if !key.contains(&b'.') {
        key.extend(b".dll");
    }
    key
}

/// The name that a file answers to.
pub fn key_of_file(path: &Path) -> Vec<u8> {
    path.file_name().unwrap_or_default().to_string_lossy().as_bytes().to_ascii_lowercase()
}

/// Whether a key names a set of functions that Windows itself maps to one of its DLLs.
///
/// Source: *Windows API sets*.
pub fn is_api_set(key: &[u8]) -> bool {
    key.starts_with(b"api-") || key.starts_with(b"ext-")
}

/// Whether a name is that of a file in the same folder.
pub fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

/// A name as text, with everything escaped that could steer a terminal.
pub fn text(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => name.escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_loaders_do() {
        assert_eq!(key(b"KERNEL32"), b"kernel32.dll");
        assert_eq!(key(b"Foo.DRV"), b"foo.drv");
        assert_eq!(key(b"a.b"), b"a.b");
        assert_eq!(key_of_file(Path::new("/x/Qt5Core.DLL")), b"qt5core.dll");
        assert!(is_api_set(&key(b"API-MS-Win-Core-File-L1-1-0")));
        assert!(is_api_set(&key(b"ext-ms-win-x.dll")) && !is_api_set(b"apisetschema.dll"));
        assert!(is_plain("a.dll") && !is_plain("../a.dll") && !is_plain(""));
        assert_eq!(text(b"a\x1b[2J"), "a\\x1b[2J");
    }
}
