//! From what the user typed to a file the kernel can execute, with an error that helps.

mod privileges;
mod refused;

pub(in crate::linux) use privileges::has_capabilities;
pub use refused::{explain_exec_failure, is_on_noexec};

use super::error::LaunchError;
use model::Command;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Resolves `argv[0]` along PATH and checks what can be checked before a launch.
pub fn resolve(argv: &[String]) -> Result<Command, LaunchError> {
    let name = argv.first().map_or("", String::as_str);
    let program = find(name)?;
    check(&program)?;
    Ok(Command { argv: argv.to_vec(), program, directory: None, environment: Vec::new() })
}

/// The path of `name`: itself where it holds a slash, else the first executable along PATH.
fn find(name: &str) -> Result<PathBuf, LaunchError> {
    if name.contains('/') {
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
        None => LaunchError::NotFound(name.to_owned()),
    })
}

fn check(program: &Path) -> Result<(), LaunchError> {
    let data = match fs::metadata(program) {
        Ok(data) => data,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LaunchError::NoSuchFile(program.to_owned()));
        }
        Err(source) => return Err(explain_exec_failure(program, source)),
    };
    if data.is_dir() {
        return Err(LaunchError::IsDirectory(program.to_owned()));
    }
    if data.permissions().mode() & 0o111 == 0 {
        return Err(LaunchError::NotExecutable(program.to_owned()));
    }
    Ok(())
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
