//! Why Windows does not start a program, in words.

use super::prepared::Prepared;
use crate::windows::{LaunchError, under_wine};
use std::io;
use std::path::Path;
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_BAD_EXE_FORMAT, ERROR_DIRECTORY, ERROR_ELEVATION_REQUIRED,
    ERROR_EXE_MACHINE_TYPE_MISMATCH, ERROR_FILE_NOT_FOUND, ERROR_FILENAME_EXCED_RANGE,
    ERROR_INTERNAL_ERROR, ERROR_INVALID_NAME, ERROR_PATH_NOT_FOUND, ERROR_SHARING_VIOLATION,
    MAX_PATH,
};

/// Refuses what Windows would hand to another program. cmd, which runs batch files, divides their
/// command line by rules of its own, so arguments would not arrive as they were given.
pub(super) fn check(program: &Path) -> Result<(), LaunchError> {
    let extension = program.extension().unwrap_or_default().to_ascii_lowercase();
    if extension != "bat" && extension != "cmd" {
        return Ok(());
    }
    Err(LaunchError::WrongFormat {
        program: program.to_owned(),
        found: "it is a batch file, which cmd runs".to_owned(),
        remedy: format!("run it with cmd: cmd /c call {}", model::quoted_path(program)),
    })
}

/// Whether CreateProcess may succeed when it is called again. Wine needs one fixed address in each process (that of
/// KUSER_SHARED_DATA). Without Wine's preloader, something else was already there in about 1 of 8,000 processes.
pub(super) fn is_by_chance(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(i32::cast_unsigned);
    code == Some(ERROR_INTERNAL_ERROR) && under_wine::version().is_some()
}

/// The answer of CreateProcess to a command.
pub(super) fn explain(prepared: &Prepared, source: io::Error) -> LaunchError {
    let program = prepared.program.clone();
    let code = source.raw_os_error().map(i32::cast_unsigned);
    match (code, &prepared.directory) {
        (Some(ERROR_DIRECTORY), Some(directory)) => {
            LaunchError::Directory { directory: directory.clone(), source }
        }
        (Some(ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND), _) if !program.exists() => {
            LaunchError::NoSuchFile(program)
        }
        (Some(ERROR_FILE_NOT_FOUND | ERROR_INVALID_NAME | ERROR_PATH_NOT_FOUND), _)
            if program.as_os_str().len() >= MAX_PATH as usize =>
        {
            LaunchError::Refused {
                program,
                found: format!("the system does not launch programs by so long a path ({source})"),
                remedy: "copy it to a folder with a shorter path".to_owned(),
            }
        }
        (Some(ERROR_BAD_EXE_FORMAT | ERROR_EXE_MACHINE_TYPE_MISMATCH), _) => {
            LaunchError::WrongFormat {
                program,
                found: "it is not a program for this system".to_owned(),
                remedy: "if it is a script, launch its interpreter with the file as an argument"
                    .to_owned(),
            }
        }
        (Some(ERROR_ELEVATION_REQUIRED), _) => LaunchError::Refused {
            program,
            found: "it asks for the rights of an administrator".to_owned(),
            remedy: "run headstart as administrator".to_owned(),
        },
        (Some(ERROR_ACCESS_DENIED), _) => LaunchError::Refused {
            program,
            found: source.to_string(),
            remedy: "check the permissions of the file, and whether a policy or a virus scanner \
                     blocks it"
                .to_owned(),
        },
        (Some(ERROR_FILENAME_EXCED_RANGE), _) => {
            LaunchError::TooLong { program, found: source.to_string() }
        }
        (Some(ERROR_SHARING_VIOLATION), _) => LaunchError::Refused {
            program,
            found: "another process writes to it".to_owned(),
            remedy: "try again when that is done".to_owned(),
        },
        _ => LaunchError::Start { program, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_internal_errors_of_wine_are_by_chance() {
        let code = |code: u32| io::Error::from_raw_os_error(code.cast_signed());
        assert_eq!(is_by_chance(&code(ERROR_INTERNAL_ERROR)), under_wine::version().is_some());
        assert!(!is_by_chance(&code(ERROR_ACCESS_DENIED)));
    }
}
