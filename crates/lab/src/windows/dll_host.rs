//! What loads DLLs: this Windows itself. For Linux, `libraries/dll_host.rs`.

use super::dll_words::with_end;
use crate::LabError;
use crate::bench::missing_dlls;
use model::Command;
use os::launcher::HeardOutput;
use std::ffi::OsStr;
use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Launches the program that loads DLLs.
pub struct DllHost {
    /// The Wine that this Windows is.
    wine: Option<String>,
}

impl DllHost {
    /// Makes it ready.
    ///
    /// # Errors
    /// None.
    pub fn start() -> Result<DllHost, LabError> {
        Ok(DllHost { wine: os::host::wine() })
    }

    /// `loader` of a report.
    pub fn loader(&self) -> &'static str {
        if self.wine.is_some() { "wine" } else { "LoadLibrary" }
    }

    /// What loads, in a sentence.
    pub fn note(&self) -> String {
        match &self.wine {
            Some(wine) => format!(
                "loaded by LoadLibrary of {wine}: these are times of Wine's loader, not of Windows'"
            ),
            None => {
                "loaded by LoadLibrary of Windows, warm: headstart for Windows has no cold loads"
                    .to_owned()
            }
        }
    }

    /// Launches `program` and hears it, as [`os::library_loads::heard`] does.
    ///
    /// # Errors
    /// Those of [`os::library_loads::heard`].
    pub fn output(
        &self,
        program: &Path,
        patience: [Duration; 2],
        limit: usize,
        heard: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HeardOutput, LabError> {
        Ok(os::library_loads::heard(&command(program), patience, limit, heard)?)
    }

    /// Nothing can have changed.
    ///
    /// # Errors
    /// None.
    pub fn check(&self) -> Result<(), LabError> {
        Ok(())
    }

    /// That the program did not begin, but did what `found` says.
    pub fn not_begun(&self, _program: &Path, found: String) -> LabError {
        let next = "try again, and check whether a virus scanner has ended it";
        LabError::Unusable(format!("{found}; {next}"))
    }
}

/// The launch of `program`, in the current folder.
fn command(program: &Path) -> Command {
    Command {
        argv: vec![program.into()],
        program: program.to_owned(),
        directory: None,
        environment: Vec::new(),
    }
}

/// Whether a name is not to be searched for.
fn is_path(name: &OsStr) -> bool {
    name.as_encoded_bytes().iter().any(|byte| matches!(byte, b'\\' | b'/' | b':'))
}

/// What LoadLibrary is given for a name: a whole path with `\`, as it takes no other, or the name.
pub fn given(name: &OsStr) -> Vec<u16> {
    let path = if is_path(name) { std::path::absolute(name).ok() } else { None };
    path.as_ref().map_or(name, |path| path.as_os_str()).encode_wide().collect()
}

/// The file that a name means: the path, or what the search for a name finds first, if anything.
pub fn file(name: &OsStr) -> Option<PathBuf> {
    let path = with_end(PathBuf::from(name));
    if is_path(name) { Some(path) } else { missing_dlls::found(path.as_os_str(), &command(&path)) }
}

/// Which DLLs a library needs that are not found, to follow what is said of it. `loaded`: those that the
/// process has.
pub fn missing(file: &Path, loaded: &[PathBuf]) -> String {
    missing_dlls::of_library(file, &command(file), loaded)
}

/// What is said of a library that has ended the process with this exit code.
pub fn exited(code: i32) -> String {
    format!("it ended the process with exit code {code} while it was loaded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_whole_and_names_are_left() {
        let given = |name: &str| String::from_utf16(&given(OsStr::new(name))).unwrap();
        assert_eq!(given("user32.dll"), "user32.dll");
        assert_eq!(given("caf\u{e9} 1"), "caf\u{e9} 1");
        assert_eq!(given("C:/a b/c.dll"), r"C:\a b\c.dll");
        let here = std::env::current_dir().unwrap();
        for name in [r"sub\a.dll", "sub/a.dll", r".\sub\a.dll"] {
            assert_eq!(given(name), here.join(r"sub\a.dll").to_string_lossy());
        }
        assert_eq!(file(OsStr::new("no-such.dll")), None);
        let found = file(OsStr::new("kernel32")).unwrap();
        assert!(found.ends_with("kernel32.dll") && found.is_file(), "{}", found.display());
        assert_eq!(file(OsStr::new(r".\no-such.dll")), Some(PathBuf::from(r".\no-such.dll")));
    }
}
