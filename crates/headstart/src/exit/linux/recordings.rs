//! What errors of recordings mean, and of what is put on the system.

use crate::exit::{FILES, Known, NO, NOT_PERMITTED};
use install::ProgramError;
use prefetch::launchers::InstallError;
use prefetch::store::StoreError;

impl Known for StoreError {
    fn code(&self) -> u8 {
        match self {
            StoreError::NotTrusted { .. } => NOT_PERMITTED,
            _ => FILES,
        }
    }

    fn words(&self) -> String {
        match self {
            StoreError::NoPlace => format!("{self}; set one of them, or use --out FILE"),
            StoreError::NotWritten { .. } => {
                format!("{self}; write the recording elsewhere: --out FILE")
            }
            _ => self.to_string(),
        }
    }
}

/// That a file stays as it is, or that nothing can be put in front of a program, is an answer.
impl Known for InstallError {
    fn code(&self) -> u8 {
        match self {
            InstallError::Io { .. } => FILES,
            InstallError::Refused { .. } => NO,
            InstallError::Write(error) => error.code(),
            InstallError::Store(error) => error.code(),
        }
    }
}

impl Known for ProgramError {
    fn code(&self) -> u8 {
        match self {
            ProgramError::Optimize(error) => error.code(),
            ProgramError::Bundle(error) => error.code(),
            ProgramError::Write(error) => error.code(),
            ProgramError::Desktop(error) => error.code(),
            ProgramError::Declined { .. } | ProgramError::NotFaster { .. } => NO,
            ProgramError::Wrong { .. } | ProgramError::NotInstalled { .. } => NO,
            _ => FILES,
        }
    }
}
