//! Why Windows does not start a program, in words.

use super::prepared::Prepared;
use crate::windows::LaunchError;
use std::io;
use std::path::Path;
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_BAD_EXE_FORMAT, ERROR_DIRECTORY, ERROR_ELEVATION_REQUIRED,
    ERROR_EXE_MACHINE_TYPE_MISMATCH, ERROR_FILE_NOT_FOUND, ERROR_FILENAME_EXCED_RANGE,
    ERROR_INVALID_NAME, ERROR_PATH_NOT_FOUND, ERROR_SHARING_VIOLATION, MAX_PATH,
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
