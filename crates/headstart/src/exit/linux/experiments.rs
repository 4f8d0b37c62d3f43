//! Errors of published experiments in the words of the command line.

use crate::exit::{FILES, HEADSTART_FAILED, Known, PROGRAM_FAILED, USAGE};
use ordering::attempt::OUT;
use ordering::openoffice::OpenOfficeError;

/// The error of another library that this one passes on.
fn passed_on(error: &OpenOfficeError) -> Option<&dyn Known> {
    Some(match error {
        OpenOfficeError::Attempt(error) => error,
        OpenOfficeError::Launch(error) => error,
        OpenOfficeError::Verify(error) => error,
        OpenOfficeError::Lab(error) => error,
        _ => return None,
    })
}

impl Known for OpenOfficeError {
    fn code(&self) -> u8 {
        match self {
            OpenOfficeError::NotEmpty(_) => USAGE,
            OpenOfficeError::Io { .. } => FILES,
            OpenOfficeError::Prepare { .. }
            | OpenOfficeError::Build { .. }
            | OpenOfficeError::NothingBuilt { .. } => PROGRAM_FAILED,
            _ => passed_on(self).map_or(HEADSTART_FAILED, Known::code),
        }
    }

    fn words(&self) -> String {
        match self {
            OpenOfficeError::NotEmpty(_) => format!("{self}: name a new folder with --save"),
            OpenOfficeError::Prepare { .. } => {
                format!("{self}; or take a program of your own, with --source and --build")
            }
            OpenOfficeError::NothingBuilt { .. } => {
                format!("{self}; write {OUT} where the linker is told what to write")
            }
            OpenOfficeError::Io { .. } => format!("{self}; choose another folder"),
            _ => passed_on(self).map_or_else(|| self.to_string(), Known::words),
        }
    }
}
