//! Why a file is not rewritten.

use crate::same_launch::LaunchChanged;
use files::reasons::unwritten;
use files::{Privilege, WriteError, privilege};
use image::ImageError;
use image::elf::Loadable;
use image::elf::edit::EditError;
use loader::GraphError;
use loader::search::SearchError;
use std::path::{Path, PathBuf};

/// Why a program is not changed in this way: a sentence with the cause and what could be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Declined(pub String);

impl Declined {
    /// Of images for other machines, whose relocations are of other types.
    pub(crate) fn other_machine(image: &Loadable) -> Result<(), Declined> {
        match image.machine.as_str() {
            "x86_64" => Ok(()),
            machine => Err(Declined(format!("it is for {machine}; only x86_64 is supported"))),
        }
    }
}

impl From<EditError> for Declined {
    fn from(error: EditError) -> Declined {
        Declined(error.to_string())
    }
}

/// Why a program or library is not rewritten.
#[derive(Debug, thiserror::Error)]
pub enum ElfRewriteError {
    /// The loader would not load it, or nothing is known of how.
    #[error("{source}{}", without_variables(source))]
    Graph {
        /// What the simulated loader says.
        #[from]
        source: GraphError,
    },
    /// It cannot be read as an image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// It cannot be written there, or not replaced.
    #[error(transparent)]
    Apply(#[from] WriteError),
    /// Its tables cannot be rewritten.
    #[error("{}: {source}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: EditError,
    },
    /// The file would behave in another way.
    #[error("{}: {source}", path.display())]
    Changed {
        /// The program.
        path: PathBuf,
        /// What would be different.
        source: LaunchChanged,
    },
    /// The file grants privileges.
    #[error(
        "{} is {what}: a changed copy would not have these privileges, and should not; leave it \
         as it is", path.display()
    )]
    Privileged {
        /// The file.
        path: PathBuf,
        /// `set-user-ID`.
        what: &'static str,
    },
    /// This change does not apply to it, or would not be safe.
    #[error("{} is not rewritten: {reason}", path.display())]
    Declined {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A copy would be parted from files that came with the program.
    #[error(
        "{} is not rewritten: it brings libraries along ($ORIGIN; {}), and it or one of them asks \
         where its own file is ({asks}), so a copy in another folder may not find what the \
         original finds", path.display(), library.display()
    )]
    Parted {
        /// The program.
        path: PathBuf,
        /// One of the libraries, without its folder.
        library: PathBuf,
        /// How it asks.
        asks: &'static str,
        /// A place for the copy where it finds them.
        beside: PathBuf,
    },
    /// It would not start faster.
    #[error("{}: {reason}; nothing was written", path.display())]
    NothingToGain {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file cannot be written.
    #[error("{}: {}", path.display(), unwritten(path, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl ElfRewriteError {
    pub(crate) fn edit(path: &Path) -> impl Fn(EditError) -> ElfRewriteError + '_ {
        |source| ElfRewriteError::Edit { path: path.to_owned(), source }
    }

    pub(crate) fn declined(path: &Path) -> impl Fn(Declined) -> ElfRewriteError + '_ {
        |Declined(reason)| ElfRewriteError::Declined { path: path.to_owned(), reason }
    }

    pub(crate) fn nothing_to_gain(path: &Path) -> impl Fn(Declined) -> ElfRewriteError + '_ {
        |Declined(reason)| ElfRewriteError::NothingToGain { path: path.to_owned(), reason }
    }

    pub(crate) fn changed(path: &Path) -> impl Fn(LaunchChanged) -> ElfRewriteError + '_ {
        |source| ElfRewriteError::Changed { path: path.to_owned(), source }
    }

    /// Of a file that cannot be read.
    pub(crate) fn unread(path: &Path) -> impl Fn(std::io::Error) -> ElfRewriteError + '_ {
        |source| ImageError::Io { path: path.to_owned(), source }.into()
    }

    /// Of one that cannot be written.
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> ElfRewriteError + '_ {
        |source| ElfRewriteError::Io { path: path.to_owned(), source }
    }
}

/// What is to be said where the user's environment has an answer that does not count.
fn without_variables(error: &GraphError) -> &'static str {
    let missing = matches!(error, GraphError::Library { source: SearchError::NotFound { .. }, .. });
    let given = std::env::var_os("LD_LIBRARY_PATH").is_some_and(|folders| !folders.is_empty());
    if missing && given {
        "; LD_LIBRARY_PATH does not count here, as the new program has to start without it"
    } else {
        ""
    }
}

/// Refuses files that run with privileges of their own, and bundles.
pub(crate) fn refuse(path: &Path) -> Result<(), ElfRewriteError> {
    if let Some(what) = privilege(path).map(Privilege::name) {
        return Err(ElfRewriteError::Privileged { path: path.to_owned(), what });
    }
    match crate::already::is_bundle(&Loadable::open(path)?) {
        Some(reason) => Err(ElfRewriteError::NothingToGain { path: path.to_owned(), reason }),
        None => Ok(()),
    }
}
