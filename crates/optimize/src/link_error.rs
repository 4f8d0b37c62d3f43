use crate::proof::Changed;
use files::reasons::unwritten;
use files::{Privilege, WriteError, privilege};
use image::ImageError;
use image::elf::Loadable;
use image::elf::edit::EditError;
use loader::GraphError;
use loader::search::SearchError;
use std::path::{Path, PathBuf};

/// Why a program or library is not linked anew.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
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
        source: Changed,
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

impl LinkError {
    pub(crate) fn edit(path: &Path) -> impl Fn(EditError) -> LinkError + '_ {
        |source| LinkError::Edit { path: path.to_owned(), source }
    }

    pub(crate) fn changed(path: &Path) -> impl Fn(Changed) -> LinkError + '_ {
        |source| LinkError::Changed { path: path.to_owned(), source }
    }

    /// Of a file that cannot be read.
    pub(crate) fn unread(path: &Path) -> impl Fn(std::io::Error) -> LinkError + '_ {
        |source| ImageError::Io { path: path.to_owned(), source }.into()
    }

    /// Of one that cannot be written.
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> LinkError + '_ {
        |source| LinkError::Io { path: path.to_owned(), source }
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
pub(crate) fn refuse(path: &Path) -> Result<(), LinkError> {
    if let Some(what) = privilege(path).map(Privilege::name) {
        return Err(LinkError::Privileged { path: path.to_owned(), what });
    }
    match bundle::is_already(&Loadable::open(path)?) {
        Some(reason) => Err(LinkError::NothingToGain { path: path.to_owned(), reason }),
        None => Ok(()),
    }
}
