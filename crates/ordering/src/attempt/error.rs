//! Why nothing came of an attempt.

use super::{BecameOfOld, ORDER};
use crate::ended::Ended;
use crate::verify::VerifyError;
use files::WriteError;
use image::ImageError;
use os::LaunchError;
use std::io;
use std::path::PathBuf;

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttemptError {
    /// A launch could not be made or recorded.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The program could not be read.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The order file, or the copy of the old program, could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The builds could not be compared.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A launch failed while it was traced.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// A held-out launch is one of another program.
    #[error(
        "the held-out launch '{command}' starts another program than '{program}', so its two builds \
         cannot be told apart; give a command line of '{program}'"
    )]
    OtherProgram {
        /// The launch.
        command: String,
        /// The program that is ordered.
        program: PathBuf,
    },
    /// A launch for which the order is to be made does not use the program.
    #[error(
        "'{command}' calls no function of '{program}', so no order can be made for it; leave it out, \
         or give a launch that uses the program"
    )]
    NoCalls {
        /// The launch.
        command: String,
        /// The program that is ordered.
        program: PathBuf,
    },
    /// There is nothing to order.
    #[error(
        "no called function of '{program}' can be listed in an order file, so there is no order to \
         try, and none was written; give a program that is not stripped"
    )]
    Empty {
        /// The program that is ordered.
        program: PathBuf,
    },
    /// The process that keeps the old program is gone.
    #[error("the process that guards the old program is gone: {0}; run the command again")]
    Keep(io::Error),
    /// The command that links again failed.
    #[error("the relink command ended with {ending}: {command}; its output is above")]
    Relink {
        /// The command.
        command: String,
        /// Its end, in words.
        ending: String,
    },
    /// There is no program where it should be.
    #[error("there is no file '{path}' after the relink")]
    Missing {
        /// The program.
        path: PathBuf,
    },
    /// The file was not written.
    #[error("the relink command did not write '{path}', and so it is the same file as before")]
    Unwritten {
        /// The program.
        path: PathBuf,
    },
    /// It was linked to the same bytes.
    #[error(
        "the relinked '{path}' has the same bytes as the program before: the linker took no order, or \
         the program has it already; check that the command passes the order file ({ORDER}) to the \
         linker"
    )]
    Unchanged {
        /// The program.
        path: PathBuf,
    },
    /// The program before is another one now, although the new one goes elsewhere.
    #[error("the relink command has changed '{path}' itself, not only what it was to write")]
    OldChanged {
        /// The program before.
        path: PathBuf,
    },
    /// Something went wrong when the relink had changed the program.
    #[error("{error}; {old}")]
    Relinked {
        /// What went wrong.
        error: Box<AttemptError>,
        /// What became of the program that there was before.
        old: BecameOfOld,
    },
}

/// What a user can do about it, as data: only the command line knows how that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptAdvice {
    /// Let the command write the program there, or name the place that it writes to.
    WriteThere,
    /// Make the program depend on the order file, or name the place that the command writes to.
    DependOnOrder,
    /// Name no place, if the command replaces the program.
    NameNoPlace,
}

impl AttemptError {
    /// The same, with what became of the program that there was before, unless nothing did.
    pub(super) fn with(self, old: BecameOfOld) -> AttemptError {
        match old {
            BecameOfOld::Untouched | BecameOfOld::Replaced => self,
            old => AttemptError::Relinked { error: Box::new(self), old },
        }
    }

    /// What can be done about it.
    pub fn advice(&self) -> Option<AttemptAdvice> {
        match self {
            AttemptError::Missing { .. } => Some(AttemptAdvice::WriteThere),
            AttemptError::Unwritten { .. } => Some(AttemptAdvice::DependOnOrder),
            AttemptError::OldChanged { .. } => Some(AttemptAdvice::NameNoPlace),
            _ => None,
        }
    }
}
