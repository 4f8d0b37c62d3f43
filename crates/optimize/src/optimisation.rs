use std::path::{Path, PathBuf};

/// A program that is to start faster.
#[derive(Clone, Debug)]
pub struct Program {
    /// As it was found, links not followed: `/usr/bin/clang++`.
    pub path: PathBuf,
    /// The file itself, links followed.
    pub file: PathBuf,
}

/// One way to make a program start faster.
pub trait Optimisation: Sync {
    /// As commands and tables name it: `bundle --fixed`.
    fn name(&self) -> &'static str;

    /// Whether every launch still has other addresses (address-space layout randomisation).
    fn keeps_aslr(&self) -> bool;

    /// Writes the changed program and what belongs to it into `folder`, which is empty, is the
    /// program's own, and stays where it is.
    ///
    /// # Errors
    /// It does not apply to this program, or would not be safe; nothing usable is written then.
    fn build(&self, program: &Program, folder: &Path) -> Result<Built, Declined>;
}

/// A changed program.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// What to start instead of the program.
    pub run: PathBuf,
    /// Original files that it replaces and that a launch must not map any more.
    pub replaced: Vec<PathBuf>,
    /// What a user should know, a sentence each.
    pub notes: Vec<String>,
}

/// Why a program is not changed in this way: a sentence with the cause and what could be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Declined(pub String);
