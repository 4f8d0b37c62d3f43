use std::path::PathBuf;

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The closure cannot be read or does not resolve.
    #[error(transparent)]
    Closure(#[from] loader::GraphError),
    /// This program is not bundled, or not in this way.
    #[error("{program} is not bundled: {reason}")]
    Declined {
        /// The program.
        program: String,
        /// Why, and what could be done.
        reason: String,
    },
    /// References that nothing defines.
    #[error(
        "{module} refers to {symbol}, which neither it nor any library defines; the program would \
         fail as it is, check it with `ldd -r`"
    )]
    Unresolved {
        /// Who refers.
        module: String,
        /// The symbol, with its version.
        symbol: String,
    },
    /// A file cannot be read as an image.
    #[error(transparent)]
    Image(#[from] image::ImageError),
    /// There is no bundle there.
    #[error("{} is no folder that headstart bundle has made: {found}", folder.display())]
    NotABundle {
        /// What was named.
        folder: PathBuf,
        /// What is wrong with it.
        found: String,
    },
    /// A bundle that the kernel puts elsewhere at every launch.
    #[error(
        "the bundle in {} keeps address-space layout randomisation: each launch has other \
         addresses already; only bundles made with --fixed need a new base",
        .0.display()
    )]
    NotFixed(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl BundleError {
    pub(crate) fn io(path: &std::path::Path, source: std::io::Error) -> BundleError {
        BundleError::Io { path: path.to_owned(), source }
    }
}
