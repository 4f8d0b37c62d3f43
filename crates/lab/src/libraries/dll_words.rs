//! Names of DLLs, and why one was not loaded.

use super::words;
use os::library_loads::LoadEnding;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// What libraries of Windows end with.
const ENDS: [&[u8]; 6] = [b".dll", b".ocx", b".cpl", b".drv", b".ax", b".acm"];

/// Whether a name of a list is that of a library of Windows: by how it ends, or by its drive.
pub fn is_dll_name(name: &OsStr) -> bool {
    let lower = name.as_bytes().to_ascii_lowercase();
    ENDS.iter().any(|end| lower.ends_with(end)) || has_drive(name)
}

fn has_drive(name: &OsStr) -> bool {
    matches!(name.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
}

/// What LoadLibrary is given for a name: a path of Linux is one of drive Z, which is the root of
/// all files; a path of Windows and a name to be searched for are what they are.
pub fn given(name: &OsStr) -> String {
    let Some(path) = unix_path(name) else { return name.to_string_lossy().into_owned() };
    let path = std::path::absolute(&path).unwrap_or(path.into());
    format!("Z:{}", path.to_string_lossy().replace('/', "\\"))
}

/// The name, where it is a path of Linux.
fn unix_path(name: &OsStr) -> Option<OsString> {
    (name.as_bytes().contains(&b'/') && !has_drive(name)).then(|| name.to_owned())
}

/// Why a library was not loaded; `None` where it was.
pub fn error(ending: &LoadEnding, name: &OsStr, timeout: Duration) -> Option<String> {
    match ending {
        LoadEnding::Refused(text) => Some(text.clone()),
        LoadEnding::Exited(code) => Some(format!(
            "it ended the process while it was loaded (the lowest eight bits of the exit code, all \
             that Wine tells, are {code})"
        )),
        _ => words::error(ending, name, timeout),
    }
}

/// What GetLastError says after a load (*System Error Codes*, learn.microsoft.com/windows/win32/debug).
pub fn refused(code: u32, name: &OsStr) -> String {
    let path = unix_path(name);
    let is_there = path.as_ref().is_some_and(|path| Path::new(path).exists());
    let meaning = match code {
        2 | 3 => "the file was not found; check the name, or give its path",
        126 if is_there => "a library that it needs was not found",
        126 => "it, or a library that it needs, was not found; check the name, or give its path",
        5 => "it may not be read",
        127 => "a function that it needs is not in the library that should have it",
        182 => "a function that it needs has no such number in the library that should have it",
        193 => "it is no library for 64-bit Windows",
        998 => "it touched memory that is not there while it was loaded",
        1114 => "its initialization failed",
        _ => "LoadLibrary refused",
    };
    let file = path.filter(|_| code == 193).map(|path| words::identified(Path::new(&path)));
    format!("{meaning}{} (error {code})", file.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_windows_are_known_and_paths_of_linux_are_of_drive_z() {
        for name in ["kernel32.dll", "User32.DLL", "/opt/a.ocx", "C:\\windows\\x", "d:/x"] {
            assert!(is_dll_name(OsStr::new(name)), "{name}");
        }
        for name in ["libz.so.1", "/usr/lib/libdll.so", "dll", "a:b.so"] {
            assert!(!is_dll_name(OsStr::new(name)), "{name}");
        }
        let given = |name: &str| given(OsStr::new(name));
        assert_eq!(given("/opt/a b.dll"), "Z:\\opt\\a b.dll");
        assert_eq!(given("C:\\x/y.dll"), "C:\\x/y.dll");
        assert_eq!(given("user32.dll"), "user32.dll");
        let here = std::env::current_dir().unwrap().to_string_lossy().replace('/', "\\");
        assert_eq!(given("./a.dll"), format!("Z:{here}\\a.dll"));
    }

    #[test]
    fn every_error_has_its_number() {
        for code in [2, 5, 126, 127, 182, 193, 998, 1114, 4711] {
            let text = refused(code, OsStr::new("/no/such.dll"));
            assert!(text.ends_with(&format!("(error {code})")), "{text}");
        }
    }
}
