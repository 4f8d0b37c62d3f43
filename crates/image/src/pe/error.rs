//! Why a file is not read as PE.

use crate::error::{PE, describe};

/// Why a file is not read as PE.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PeError {
    /// It does not begin as one.
    #[error("{path} is not a PE file: {found}")]
    NotPe {
        /// The file.
        path: String,
        /// What it is instead, and what to do about it.
        found: String,
    },
    /// The file ends within its headers.
    #[error(
        "{path} is cut short: its PE headers go on behind its {bytes} bytes; copy or build it again"
    )]
    Truncated {
        /// The file.
        path: String,
        /// Size of the file.
        bytes: usize,
    },
    /// The optional header is of no known form.
    #[error(
        "{path} has an optional header of magic number {magic:#x}, which is neither PE32 (0x10b) \
         nor PE32+ (0x20b); the file is damaged, or for a ROM"
    )]
    Magic {
        /// The file.
        path: String,
        /// The number found.
        magic: u16,
    },
}

impl PeError {
    pub(super) fn not_pe(path: &str, bytes: &[u8]) -> PeError {
        PeError::NotPe { path: path.to_owned(), found: describe(bytes, &PE) }
    }

    pub(super) fn dos(path: &str) -> PeError {
        let found = "it begins with MZ, but there is no PE header; it is a program for DOS or \
                     16-bit Windows, or damaged";
        PeError::NotPe { path: path.to_owned(), found: found.to_owned() }
    }

    pub(super) fn truncated(path: &str, bytes: usize) -> PeError {
        PeError::Truncated { path: path.to_owned(), bytes }
    }

    pub(super) fn magic(path: &str, magic: u16) -> PeError {
        PeError::Magic { path: path.to_owned(), magic }
    }
}
