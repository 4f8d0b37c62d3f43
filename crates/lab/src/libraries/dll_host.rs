//! What loads DLLs on Linux: Wine, in a prefix of its own. For Windows, `windows/dll_host.rs`.

use super::dll_words::with_end;
use crate::LabError;
use os::launcher::HeardOutput;
use os::wine::{Wine, WineError};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What libraries of Windows end with.
const ENDS: [&[u8]; 6] = [b".dll", b".ocx", b".cpl", b".drv", b".ax", b".acm"];

/// Launches the program that loads DLLs.
pub struct DllHost(Wine);

impl DllHost {
    /// Makes it ready.
    ///
    /// # Errors
    /// Wine is not there or does not work.
    pub fn start() -> Result<DllHost, LabError> {
        Ok(DllHost(Wine::start_whole(None)?))
    }

    /// `loader` of a report.
    pub fn loader(&self) -> &'static str {
        "wine"
    }

    /// What loads, in a sentence.
    pub fn note(&self) -> String {
        format!(
            "loaded by LoadLibrary under {} in a new prefix, which has all of Wine's own libraries",
            self.0.version()
        )
    }

    /// Launches `program` and hears it, as [`Wine::output`] does.
    ///
    /// # Errors
    /// Those of [`Wine::output`].
    pub fn output(
        &self,
        program: &Path,
        patience: [Duration; 2],
        limit: usize,
        heard: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HeardOutput, LabError> {
        Ok(self.0.output(program, patience, limit, heard)?)
    }

    /// Whether all that was found is that of one server.
    ///
    /// # Errors
    /// Wine's server was ended meanwhile.
    pub fn check(&self) -> Result<(), LabError> {
        Ok(self.0.check()?)
    }

    /// That the program did not begin, but did what `found` says.
    pub fn not_begun(&self, program: &Path, found: String) -> LabError {
        WineError::NotReady { found, by_hand: self.0.command(program).line() }.into()
    }
}

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
pub fn given(name: &OsStr) -> Vec<u16> {
    let text = match unix_path(name) {
        None => name.to_string_lossy().into_owned(),
        Some(path) => {
            let path = std::path::absolute(&path).unwrap_or(path.into());
            format!("Z:{}", path.to_string_lossy().replace('/', "\\"))
        }
    };
    text.encode_utf16().collect()
}

/// The name, where it is a path of Linux.
fn unix_path(name: &OsStr) -> Option<OsString> {
    (name.as_bytes().contains(&b'/') && !has_drive(name)).then(|| name.to_owned())
}

/// The file that a name means, where that is known without a search.
pub fn file(name: &OsStr) -> Option<PathBuf> {
    unix_path(name).map(|path| with_end(path.into()))
}

/// Which DLLs a library needs that are not found, to follow what is said of it: Wine tells nothing.
pub fn missing(_file: &Path, _loaded: &[PathBuf]) -> String {
    String::new()
}

/// What is said of a library that has ended the process with this exit code.
pub fn exited(code: i32) -> String {
    format!(
        "it ended the process while it was loaded (the lowest eight bits of the exit code, all \
         that Wine tells, are {code})"
    )
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
        let given = |name: &str| String::from_utf16(&given(OsStr::new(name))).unwrap();
        assert_eq!(given("/opt/a b.dll"), "Z:\\opt\\a b.dll");
        assert_eq!(given("C:\\x/y.dll"), "C:\\x/y.dll");
        assert_eq!(given("user32.dll"), "user32.dll");
        let here = std::env::current_dir().unwrap().to_string_lossy().replace('/', "\\");
        assert_eq!(given("./a.dll"), format!("Z:{here}\\a.dll"));
    }
}
