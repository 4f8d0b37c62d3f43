//! Errors of published experiments in the words of the command line.

use crate::exit::{FILES, HEADSTART_FAILED, Known, PROGRAM_FAILED, USAGE};
use lab::pietrek::{PietrekError, PietrekPath};
use ordering::attempt::OUT;
use ordering::openoffice::OpenOfficeError;

impl Known for PietrekError {
    fn code(&self) -> u8 {
        match self {
            PietrekError::Lab(error) => error.code(),
            PietrekError::Io { .. } => FILES,
            _ => USAGE,
        }
    }

    fn words(&self) -> String {
        match self {
            PietrekError::Lab(error) => error.words(),
            PietrekError::NotEmpty(_) => format!("{self}: name a new folder with --save"),
            PietrekError::Io { used, .. } => format!("{self}; {}", path_remedy(*used)),
            PietrekError::OtherWorkload { .. } => format!(
                "{self}: give --format, --dlls, --functions and --globals as they were given to \
                 --generate"
            ),
            _ => self.to_string(),
        }
    }
}

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

fn path_remedy(used: PietrekPath) -> &'static str {
    match used {
        PietrekPath::Kept => "choose another folder",
        PietrekPath::Place => "name a folder on a file system with --on",
        PietrekPath::Workloads => {
            "the workloads cannot be written there; write them with --generate"
        }
        PietrekPath::Figures => "name a file with lines such as: default,120.5",
    }
}
