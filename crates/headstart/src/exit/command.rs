//! Errors of the command itself.

use super::{FILES, Known, USAGE};

/// A command line that clap accepts and that is wrong all the same.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

impl Known for Usage {
    fn code(&self) -> u8 {
        USAGE
    }
}

/// A file or standard output that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}; {remedy}")]
pub struct FileError {
    /// The file.
    pub path: String,
    /// What happened.
    pub source: std::io::Error,
    /// The next step.
    pub remedy: &'static str,
}

impl Known for FileError {
    fn code(&self) -> u8 {
        FILES
    }
}

/// An error that is only told, with its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct WithCode {
    /// The exit code.
    pub code: u8,
    /// What happened, and the next step.
    pub text: String,
}

impl Known for WithCode {
    fn code(&self) -> u8 {
        self.code
    }
}
