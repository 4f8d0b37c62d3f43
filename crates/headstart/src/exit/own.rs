//! Errors of the command itself.

use super::{FILES, Known, NO, NOT_PERMITTED, USAGE};

/// A command line that clap accepts and that is wrong all the same.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// headstart cannot start the threads that it works with.
#[derive(Debug, thiserror::Error)]
#[error(
    "headstart cannot start its threads: {source} ({limits}); raise the limit, or end other \
     processes"
)]
pub struct NoThreads {
    /// How many processes and threads there may be, in words.
    pub limits: String,
    /// What happened.
    pub source: std::io::Error,
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

/// Some files of several could not be written or restored; the text names them.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotAll(pub String);

/// A file that is not rewritten, for a reason.
#[derive(Debug, thiserror::Error)]
#[error("{path} is not rewritten: {reason}")]
pub struct Declines {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// A file of headstart's own that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Unusable {
    /// The file.
    pub path: String,
    /// Why, and the next step.
    pub reason: String,
}

macro_rules! codes {
    ($($error:ty => $code:ident),*) => {
        $(impl Known for $error {
            fn code(&self) -> u8 {
                $code
            }
        })*
    };
}

codes! {
    Usage => USAGE,
    NoThreads => NOT_PERMITTED,
    FileError => FILES,
    NotAll => FILES,
    Declines => NO,
    Unusable => FILES
}
