//! What became of the program that there was before a relink.

use std::fmt;
use std::path::PathBuf;

/// What became of the program that there was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BecameOfOld {
    /// It is where it was, and as it was.
    Untouched,
    /// The new one has its place.
    Replaced,
    /// It has its place again.
    PutBack {
        /// The program.
        path: PathBuf,
        /// What became of the new one.
        new: NewBuild,
    },
    /// It could not be put back.
    Lost {
        /// The program.
        path: PathBuf,
        /// Where it is now.
        copy: PathBuf,
        /// Why it is still there.
        reason: String,
    },
}

/// What became of the new program where the old one has its place again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewBuild {
    /// There was none.
    None,
    /// It is here.
    Kept(PathBuf),
    /// It could not be given another name.
    Discarded,
}

impl fmt::Display for BecameOfOld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BecameOfOld::Untouched => write!(f, "the old program is as it was"),
            BecameOfOld::Replaced => write!(f, "the new program has the place of the old one"),
            BecameOfOld::PutBack { path, new } => {
                write!(f, "'{}' is as it was before the relink again", path.display())?;
                match new {
                    NewBuild::None => Ok(()),
                    NewBuild::Kept(new) => write!(f, "; the new build is '{}'", new.display()),
                    NewBuild::Discarded => write!(f, "; the new build was discarded"),
                }
            }
            BecameOfOld::Lost { path, copy, reason } => write!(
                f,
                "'{}' could not be put back ({reason}): move '{}' there",
                path.display(),
                copy.display()
            ),
        }
    }
}
