//! From what the user typed to a file, with an error that helps.

use crate::LaunchError;
use model::Command;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use windows_sys::Win32::Foundation::MAX_PATH;
use windows_sys::Win32::System::SystemInformation::{GetSystemDirectoryW, GetWindowsDirectoryW};

/// Extensions that are tried where a name has none, should PATHEXT not be set.
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// Resolves `argv[0]` along PATH and checks what can be checked before a launch.
///
/// # Errors
/// There is no such file, or it is a folder.
pub fn resolve<Word: AsRef<OsStr>>(argv: &[Word]) -> Result<Command, LaunchError> {
    let argv: Vec<OsString> = argv.iter().map(|word| word.as_ref().to_owned()).collect();
    let name = argv.first().map_or(OsStr::new(""), OsString::as_os_str);
    let program = find(name)?;
    match program.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LaunchError::NoSuchFile(program));
        }
        Err(source) => return Err(LaunchError::Start { program, source }),
        Ok(data) if data.is_dir() => return Err(LaunchError::IsDirectory(program)),
        Ok(_) => {}
    }
    Ok(Command { argv, program, directory: None, environment: Vec::new() })
}

/// The path of `name`: itself where it is one, else the first such program in the working folder, as
/// cmd has it, in the folders of PATH and in that of the system.
fn find(name: &OsStr) -> Result<PathBuf, LaunchError> {
    let path = Path::new(name);
    let is_path = name.as_encoded_bytes().iter().any(|byte| b"/\\:".contains(byte));
    if is_path {
        return Ok(with_extension(path).unwrap_or_else(|| path.to_owned()));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(PathBuf::new()).chain(std::env::split_paths(&folders));
    let folders = folders.chain(system_folder()).filter(|_| !name.is_empty());
    let mut found = folders.filter_map(|folder| with_extension(&folder.join(path)));
    found.next().ok_or_else(|| LaunchError::NotFound(name.to_string_lossy().into_owned()))
}

/// The folders of Windows' own programs and DLLs, in the order in which the loader searches them.
pub fn system_folders() -> Vec<PathBuf> {
    system_folder().into_iter().chain(folder(GetWindowsDirectoryW)).collect()
}

/// The folder of Windows' own programs.
fn system_folder() -> Option<PathBuf> {
    folder(GetSystemDirectoryW)
}

/// What one of these functions names.
fn folder(named: unsafe extern "system" fn(*mut u16, u32) -> u32) -> Option<PathBuf> {
    let mut name = [0; MAX_PATH as usize];
    // SAFETY: the name has room for so many characters.
    let length = unsafe { named(name.as_mut_ptr(), MAX_PATH) };
    let name = name.get(..length as usize).filter(|name| !name.is_empty())?;
    Some(PathBuf::from(OsString::from_wide(name)))
}

/// The file with one of the extensions of programs, or itself: beside `npm.cmd` lies `npm`, a script
/// for other systems.
fn with_extension(path: &Path) -> Option<PathBuf> {
    let itself = path.is_file().then(|| path.to_owned());
    if path.extension().is_some() && itself.is_some() {
        return itself;
    }
    let extensions = std::env::var("PATHEXT").unwrap_or_else(|_| EXTENSIONS.to_owned());
    let mut candidates =
        extensions.split(';').filter(|extension| !extension.is_empty()).map(|extension| {
            let mut candidate = path.as_os_str().to_owned();
            candidate.push(extension.to_ascii_lowercase());
            PathBuf::from(candidate)
        });
    candidates.find(|candidate| candidate.is_file()).or(itself)
}

/// What helps against errors of CreateProcess that have nothing to do with the program.
pub(crate) fn next_step(_error: &io::Error) -> &'static str {
    "; start it by hand for details"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_path_and_without_their_extension() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("tool.exe");
        std::fs::write(&program, "MZ").unwrap();
        let resolved = |path: &Path| resolve(&[path.as_os_str()]).map(|command| command.program);
        assert_eq!(resolved(&program).unwrap(), program);
        assert_eq!(resolved(&place.path().join("tool")).unwrap(), program);
        std::fs::write(place.path().join("tool"), "#!/bin/sh").unwrap();
        assert_eq!(resolved(&place.path().join("tool")).unwrap(), program);
        std::fs::remove_file(&program).unwrap();
        assert_eq!(resolved(&place.path().join("tool")).unwrap(), place.path().join("tool"));
        std::fs::write(&program, "MZ").unwrap();
        assert!(matches!(resolved(place.path()), Err(LaunchError::IsDirectory(_))));
        let gone = place.path().join("gone.exe");
        assert!(matches!(resolved(&gone), Err(LaunchError::NoSuchFile(_))));
        assert!(matches!(resolve(&["no-such-program-x"]), Err(LaunchError::NotFound(_))));
        assert!(resolve(&["cmd"]).unwrap().program.ends_with("cmd.exe"));
        assert!(matches!(resolve(&[""]), Err(LaunchError::NotFound(_))));
    }
}
