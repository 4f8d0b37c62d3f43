//! From what the user typed to a file the kernel can execute, with an error that helps.

mod privileges;
mod refused;

pub(in crate::linux) use privileges::{check_not_privileged, has_capabilities, missing};
pub(in crate::linux) use refused::interpreter;
pub use refused::{explain_exec_failure, is_on_noexec, refusal};

use super::error::LaunchError;
use model::Command;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Resolves `argv[0]` along PATH and checks what can be checked before a launch.
pub fn resolve<Word: AsRef<OsStr>>(argv: &[Word]) -> Result<Command, LaunchError> {
    let argv: Vec<OsString> = argv.iter().map(|word| word.as_ref().to_owned()).collect();
    let name = argv.first().map_or(OsStr::new(""), OsString::as_os_str);
    let program = find(name)?;
    check(&program)?;
    Ok(Command { argv, program, directory: None, environment: Vec::new() })
}

/// The user to whom files belong that are made now.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The user who has become root by sudo(8), where it was done so.
pub fn user_of_sudo() -> Option<u32> {
    let user = std::env::var("SUDO_UID").ok()?.parse().ok()?;
    rustix::process::geteuid().is_root().then_some(user)
}

/// The path of `name`: itself where it holds a slash, else the first executable along PATH.
fn find(name: &OsStr) -> Result<PathBuf, LaunchError> {
    if name.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut not_executable = None;
    for folder in std::env::split_paths(&path).filter(|_| !name.is_empty()) {
        let candidate = folder.join(name);
        match fs::metadata(&candidate) {
            Ok(data) if data.is_file() && data.permissions().mode() & 0o111 != 0 => {
                return Ok(candidate);
            }
            Ok(data) if data.is_file() => not_executable = Some(candidate),
            _ => {}
        }
    }
    Err(match not_executable {
        Some(candidate) => LaunchError::NotExecutable(candidate),
        None => LaunchError::NotFound(name.to_string_lossy().into_owned()),
    })
}

fn check(program: &Path) -> Result<(), LaunchError> {
    let data = match fs::metadata(program) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LaunchError::NoSuchFile(program.to_owned()));
        }
        Err(source) => return Err(explain_exec_failure(program, source)),
    };
    if data.is_dir() {
        return Err(LaunchError::IsDirectory(program.to_owned()));
    }
    if !data.is_file() {
        return Err(refused::refused(program));
    }
    if data.permissions().mode() & 0o111 == 0 {
        return Err(LaunchError::NotExecutable(program.to_owned()));
    }
    Ok(())
}

/// The path by which a program is still found when the working folder is another one or is gone:
/// absolute, without `..`, and not one of the names below `/proc` and `/dev` that mean another file
/// to every process. Symbolic links in it stay otherwise, as programs go by their own names.
///
/// # Errors
/// The working folder or a folder of the path cannot be found.
pub fn lasting_path(program: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(program)?;
    if path.starts_with("/proc") || path.starts_with("/dev") {
        return path.canonicalize();
    }
    let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
    match (climbs, path.parent(), path.file_name()) {
        (true, Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        (true, ..) => path.canonicalize(),
        (false, ..) => Ok(path),
    }
}

/// What helps against errors of clone and execve that have nothing to do with the program.
pub(crate) fn next_step(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => "; there are too many processes: check ulimit -u",
        Some(libc::ENOMEM) => "; free some memory",
        Some(libc::EMFILE | libc::ENFILE) => "; raise the limit on open files: ulimit -n",
        Some(libc::ELOOP) => "; its links or '#!' interpreters form a loop",
        Some(libc::EPERM) => "; check whether a security module refused it: dmesg",
        _ => "; start it by hand for details",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(program: &str) -> Vec<String> {
        vec![program.to_owned()]
    }

    #[test]
    fn finds_programs_along_path_and_names_what_is_missing() {
        assert!(resolve(&argv("sh")).unwrap().program.is_absolute());
        assert!(matches!(resolve(&argv("no-such-program-x")), Err(LaunchError::NotFound(_))));
        assert!(matches!(resolve(&argv("")), Err(LaunchError::NotFound(_))));
        assert!(matches!(resolve(&argv("/no/such")), Err(LaunchError::NoSuchFile(_))));
        assert!(matches!(resolve(&argv("/tmp")), Err(LaunchError::IsDirectory(_))));
        assert!(matches!(resolve(&argv("/etc/passwd")), Err(LaunchError::NotExecutable(_))));
    }
}
