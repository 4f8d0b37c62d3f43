//! Why dlopen has not loaded a library.

use super::dll_host::is_dll_name;
use super::words::{self, identified};
use os::library_loads::LoadEnding;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// Why a library was not loaded; `None` where it was. `given`: what dlopen was given.
pub fn error(ending: &LoadEnding, given: &OsStr, timeout: Duration) -> Option<String> {
    match ending {
        LoadEnding::Refused(text) => Some(refused(text, given)),
        _ => words::error(ending, given, timeout),
    }
}

/// The loader's words, without the name that stands beside them, and with what the file is where
/// the loader does not tell.
fn refused(text: &str, given: &OsStr) -> String {
    let name = given.to_string_lossy();
    let reason = text.strip_prefix(&*name).and_then(|rest| rest.strip_prefix(": "));
    let reason = reason.unwrap_or(text);
    let vague = ["invalid ELF header", "wrong ELF class", "file too short", "No such file"];
    let path = Path::new(given);
    if !path.is_absolute() || !vague.iter().any(|part| reason.contains(part)) {
        let next = if is_dll_name(given) {
            "; only a list of nothing but DLLs is loaded by Wine"
        } else if reason.contains("No such file") && reason.starts_with("cannot open") {
            "; check the name, or give its path"
        } else {
            ""
        };
        return format!("{reason}{next}");
    }
    if reason.contains("No such file") && path.exists() {
        // That is what the loader says of a library for another machine.
        return format!("the loader does not accept the file{}", identified(path));
    }
    format!("{reason}{}", identified(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_without_the_name_and_with_what_the_file_is() {
        let told = |text: &str, name: &str| {
            error(&LoadEnding::Refused(text.to_owned()), OsStr::new(name), Duration::from_secs(1))
        };
        let missing = "liba.so: cannot open shared object file: No such file or directory";
        assert_eq!(
            told(missing, "liba.so").unwrap(),
            "cannot open shared object file: No such file or directory; check the name, or give \
             its path"
        );
        let other = "libb.so: undefined symbol: x";
        assert_eq!(told(other, "liba.so").unwrap(), other);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.so");
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        let path = path.to_str().unwrap();
        let found = told(&format!("{path}: invalid ELF header"), path).unwrap();
        assert!(found.starts_with("invalid ELF header (it is script: "), "{found}");
    }
}
