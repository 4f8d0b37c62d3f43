//! Recordings as lists for other loaders of files: which files of an image of a file system are to
//! lie together, or to be fetched first.
//!
//! All of them take whole files, in the order in which a launch touched them first. Links are not
//! in a recording: the lists name the files that they lead to.

mod mksquashfs;
mod paths;

use model::Recording;
use std::path::Path;
use thiserror::Error;

/// What a list is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListFormat {
    /// The sort file of `mksquashfs -sort`: a path below the root and a priority, one file a line.
    Mksquashfs,
    /// The list of prioritized files of eStargz: a path below the root, one a line.
    Estargz,
    /// The list that `nydus-image create --prefetch-policy fs` reads: an absolute path, one a line.
    Nydus,
}

impl ListFormat {
    /// All of them.
    pub const ALL: [ListFormat; 3] =
        [ListFormat::Mksquashfs, ListFormat::Estargz, ListFormat::Nydus];

    /// Its word on the command line and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            ListFormat::Mksquashfs => "mksquashfs",
            ListFormat::Estargz => "estargz",
            ListFormat::Nydus => "nydus",
        }
    }
}

/// Why there is no list.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ExportProblem {
    /// A file's name cannot be written in a list.
    #[error("{path:?} has {what}, which a list for {format} cannot have; rename the file")]
    Name {
        /// The file, below the root.
        path: String,
        /// What its name has.
        what: &'static str,
        /// The format's word.
        format: &'static str,
    },
    /// Nothing of the recording would be in the list.
    #[error(
        "none of the {files} recorded files is below {root}; give the folder that becomes the root of \
         the image"
    )]
    NothingBelow {
        /// The root that was given.
        root: String,
        /// How many files the recording has.
        files: usize,
    },
    /// The root is not absolute.
    #[error("{0} is not an absolute path; give the folder that becomes the root of the image")]
    RelativeRoot(String),
}

/// A list, and what is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedList {
    /// The list, as it is to be written.
    pub text: String,
    /// Recorded files that are not below the root.
    pub left_out: Vec<String>,
}

/// The list of the files below `root`, in order of first touch.
///
/// # Errors
/// Why there is none.
pub fn text(
    recording: &Recording,
    format: ListFormat,
    root: &Path,
) -> Result<ExportedList, ExportProblem> {
    let (paths, left_out) = paths::below(recording, root)?;
    for path in &paths {
        if let Some(what) = obstacle(path, format) {
            return Err(ExportProblem::Name { path: path.clone(), what, format: format.word() });
        }
    }
    let text = match format {
        ListFormat::Mksquashfs => mksquashfs::sort_file(&paths),
        ListFormat::Estargz => paths::lines("", &paths),
        ListFormat::Nydus => paths::lines("/", &paths),
    };
    Ok(ExportedList { text, left_out })
}

/// What of a path the list cannot have.
fn obstacle(path: &str, format: ListFormat) -> Option<&'static str> {
    if path.contains(['\n', '\r']) {
        // A carriage return would end the line for some readers, too.
        return Some("a line break in its name");
    }
    if path.contains(model::text::is_byte) {
        return Some("bytes in its name that are no UTF-8");
    }
    // mksquashfs takes it for all that is in the folder, whether it is quoted or not.
    let is_star = path.ends_with("/*");
    (is_star && format == ListFormat::Mksquashfs).then_some("the name *")
}

#[cfg(test)]
mod tests;
