//! Which files may be rewritten in place.

use crate::host::policy::{PACKAGES, folder_of_packages, names, not_ones_own};
use crate::host::stamp;
use crate::real::real_path;
use crate::{Stamp, WriteAdvice, WriteError};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

pub use crate::host::policy::{Writers, privilege};

/// What a program may do beyond its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// It runs as its owner (set-user-ID).
    Owner,
    /// It runs as its group (set-group-ID).
    Group,
    /// It has capabilities of its own (capabilities(7)).
    Capabilities,
}

impl Privilege {
    /// As it is called.
    pub fn name(self) -> &'static str {
        match self {
            Privilege::Owner => "set-user-ID",
            Privilege::Group => "set-group-ID",
            Privilege::Capabilities => "a program with file capabilities",
        }
    }
}

/// Whether a file is where package managers put theirs. `path` is the real one, links followed.
pub fn is_of_package(path: &Path) -> bool {
    folder_of_packages(path).is_some()
}

/// Whether the file, links followed, may be replaced in place.
///
/// # Errors
/// It is a package's, not one's own, privileged, in use, or has several names.
pub fn may_be_replaced(path: &Path) -> Result<(), WriteError> {
    may_be_replaced_beside(path, &Writers::default())
}

/// As [`may_be_replaced`], for one of many files.
///
/// # Errors
/// As [`may_be_replaced`].
pub fn may_be_replaced_beside(path: &Path, writers: &Writers) -> Result<(), WriteError> {
    file(path, writers).map(drop)
}

/// A file that may be replaced, as it is now.
pub(crate) struct Replaceable {
    /// The file itself, links followed.
    pub(crate) real: PathBuf,
    pub(crate) data: Metadata,
    pub(crate) stamp: Option<Stamp>,
}

/// The file itself, links followed, if it may be replaced.
pub(crate) fn file(path: &Path, writers: &Writers) -> Result<Replaceable, WriteError> {
    let real = real_path(path).map_err(WriteError::io(path, "looking for it"))?;
    let data = real.metadata().map_err(WriteError::io(&real, "looking at it"))?;
    let refuse = |reason: String| Err(WriteError::refused(&real, reason));
    if !data.is_file() {
        return refuse("it is not a regular file".to_owned());
    }
    if let Some(folder) = folder_of_packages(&real) {
        let reason = format!("files of {} belong to {PACKAGES}", folder.display());
        return Err(WriteError::advised(&real, reason, WriteAdvice::CopyElsewhere));
    }
    if let Some(reason) = not_ones_own(&real, &data) {
        return refuse(reason);
    }
    if let Some(privilege) = privilege(&real) {
        return refuse(format!("it is {}, and stays as it is", privilege.name()));
    }
    let names = names(&real, &data);
    if names > 1 {
        let reason = format!("it has {names} names (hard links)");
        return Err(WriteError::advised(&real, reason, WriteAdvice::Copy));
    }
    if let Some(reason) = writers.of(&real, &data) {
        return refuse(reason);
    }
    let stamp = stamp::of(&real, &data);
    Ok(Replaceable { real, data, stamp })
}
