//! Why a DLL was not loaded.

use super::{dll_host, words};
use model::nt_status;
use os::library_loads::LoadEnding;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a library was not loaded; `None` where it was.
pub fn error(ending: &LoadEnding, name: &OsStr, timeout: Duration) -> Option<String> {
    match ending {
        LoadEnding::Refused(text) => Some(text.clone()),
        LoadEnding::Exited(code) => Some(dll_host::exited(*code)),
        _ => words::error(ending, name, timeout),
    }
}

/// A path as LoadLibrary takes it: without an extension it is that of a `.dll`.
pub fn with_end(mut path: PathBuf) -> PathBuf {
    if path.extension().is_none() {
        path.set_extension("dll");
    }
    path
}

/// What GetLastError says after a load (*System Error Codes*, learn.microsoft.com/windows/win32/debug).
/// `loaded`: what was loaded before.
pub fn refused(code: u32, name: &OsStr, loaded: &[PathBuf]) -> String {
    if nt_status::is_status(code) {
        // There is no error for it: an initializer has crashed, as a rule.
        return format!("its load ended with {}", nt_status::words(code));
    }
    let file = dll_host::file(name);
    let is_there = file.as_ref().is_some_and(|file| file.exists());
    // On Linux it may be there in letters of another case, which Wine finds.
    let is_missing = cfg!(windows) && file.is_some() && !is_there;
    let missing = match &file {
        Some(file) if code == 126 && is_there => dll_host::missing(file, loaded),
        _ => String::new(),
    };
    let meaning = match code {
        2 | 3 => "the file was not found; check the name, or give its path",
        126 if is_missing => "there is no such file; check the path",
        126 if !missing.is_empty() => "a library that it needs was not found",
        126 if is_there => "a library that it needs was not found, or could not be loaded",
        126 => "it, or a library that it needs, was not found; check the name, or give its path",
        5 => "it may not be read",
        127 => "a function that it needs is not in the library that should have it",
        182 => "a function that it needs has no such number in the library that should have it",
        193 if file.as_deref().is_some_and(is_for_x64) => {
            "it, or a library that it needs, is damaged or none for 64-bit Windows"
        }
        193 => "it is no library for 64-bit Windows",
        487 => "something else is at its address, and it cannot be moved",
        998 => "it touched memory that is not there while it was loaded",
        1114 => "its initialization failed",
        _ => "LoadLibrary refused",
    };
    let kind = match file {
        Some(file) if code == 193 && !is_for_x64(&file) => words::identified(&file),
        _ => String::new(),
    };
    format!("{meaning}{missing}{kind} (error {code})")
}

/// Whether it is an image for the processors of the program that loads.
fn is_for_x64(file: &Path) -> bool {
    image::pe::facts(file).is_ok_and(|facts| facts.machine == "x86_64")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_an_extension_are_those_of_dlls() {
        for (name, end) in [("a/b", "a/b.dll"), ("a/b.ocx", "a/b.ocx"), ("a/b.", "a/b.")] {
            assert_eq!(with_end(PathBuf::from(name)), PathBuf::from(end));
        }
    }

    #[test]
    fn every_error_has_its_number() {
        for code in [2, 5, 126, 127, 182, 193, 487, 998, 1114, 4711] {
            let text = refused(code, OsStr::new("/no/such.dll"), &[]);
            assert!(text.ends_with(&format!("(error {code})")), "{text}");
        }
        let text = refused(0xc000_001d, OsStr::new("a.dll"), &[]);
        assert_eq!(text, "its load ended with status c000001d (illegal instruction)");
    }
}
