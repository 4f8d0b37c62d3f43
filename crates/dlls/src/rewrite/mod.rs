//! Files rewritten, one by one or as a set: every result is known before the first is written, and
//! nothing is written where one file is refused.

mod each;
mod folders;
mod one;
mod set;
mod targets;
mod undo;

pub(crate) use folders::Folders;
pub(crate) use one::{Attempt, all_or_none, settled};
pub(crate) use set::{SetRewrite, carry_record};
pub(crate) use targets::{Target, targets};

pub use each::rewrite_each;
pub use one::{MemberDraft, RewrittenFile};
pub use undo::{KeptRecord, Restored, undo};

use std::path::{Path, PathBuf};

/// Which files are rewritten, and where the results go.
#[derive(Clone, Debug)]
pub struct RewriteRequest {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Whether anything is written, and where.
    pub mode: RewriteMode,
    /// Signed files are rewritten too, without their signatures.
    pub strip_signature: bool,
    /// `CheckSum` is made right also where it was 0 or wrong.
    pub checksum: bool,
}

/// Whether results are written, and where.
#[derive(Clone, Debug)]
pub enum RewriteMode {
    /// They are.
    Write(Destination),
    /// They are not; that they could be is checked where it is said where.
    DryRun(Option<Destination>),
}

/// Where results go.
#[derive(Clone, Debug)]
pub enum Destination {
    /// To new files of the same names in this folder, which is made if it is missing.
    Folder(PathBuf),
    /// To the files themselves, which can be restored.
    InPlace,
}

impl RewriteRequest {
    /// Whether nothing is to be written.
    pub fn is_dry_run(&self) -> bool {
        matches!(self.mode, RewriteMode::DryRun(_))
    }

    /// Where results go, or would go.
    fn destination(&self) -> Option<&Destination> {
        match &self.mode {
            RewriteMode::Write(destination) => Some(destination),
            RewriteMode::DryRun(destination) => destination.as_ref(),
        }
    }

    /// The folder for new files; `None` where the files themselves are replaced.
    pub fn folder(&self) -> Option<&Path> {
        match self.destination() {
            Some(Destination::Folder(folder)) => Some(folder),
            Some(Destination::InPlace) | None => None,
        }
    }
}

/// Who is told how far the work is; by any thread.
pub trait Watcher: Sync {
    /// So many files are checked or written now. What is returned is called after each of them.
    fn begins(&self, step: Step, files: usize) -> Box<dyn Fn() + Send + Sync>;

    /// Another run writes to this folder, and its end is waited for.
    fn waits(&self, folder: &Path);
}

/// What is done with all files, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is found out what becomes of them.
    Check,
    /// The results are written.
    Write,
}
