//! Errors of Pietrek's experiment in the words of the command line.

use crate::exit::{FILES, HEADSTART_FAILED, Known, USAGE};
use lab::pietrek::{PietrekError, PietrekPath};

impl Known for PietrekError {
    fn code(&self) -> u8 {
        match self {
            PietrekError::Lab(error) => error.code(),
            PietrekError::Io { .. } => FILES,
            PietrekError::Bind(_) => HEADSTART_FAILED,
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
