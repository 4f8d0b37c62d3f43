//! Why an experiment with forms of Pietrek's workload cannot be made.

use crate::LabError;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PietrekError {
    /// The launches cannot be made or kept.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// There is something in the folder that the tables are to be kept in.
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// A file or folder cannot be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it is for.
        used: PietrekPath,
        /// What happened.
        source: io::Error,
    },
    /// A program cannot be bound to its libraries.
    #[error("the program cannot be bound: {0}")]
    Bind(#[source] Box<dlls::RewriteError>),
    /// A folder was prepared with another workload than the one that is launched.
    #[error("{} holds {held}, and {wanted} are wanted", folder.display())]
    OtherWorkload {
        /// The folder.
        folder: PathBuf,
        /// What it holds, in words.
        held: String,
        /// What is launched, in words.
        wanted: String,
    },
    /// A line of figures from elsewhere is none.
    #[error("{}: '{line}' is no row and its milliseconds; rows are {rows}", file.display())]
    Row {
        /// Their file.
        file: PathBuf,
        /// The line.
        line: String,
        /// Names of all rows.
        rows: String,
    },
}

/// What a file or folder of the experiment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PietrekPath {
    /// The tables are kept in it.
    Kept,
    /// Workloads are launched from it.
    Place,
    /// Workloads are written to it.
    Workloads,
    /// It has figures from elsewhere.
    Figures,
}

impl PietrekError {
    pub(super) fn io(path: &Path, used: PietrekPath, source: io::Error) -> PietrekError {
        PietrekError::Io { path: path.to_owned(), used, source }
    }
}
