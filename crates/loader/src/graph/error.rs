//! Why the modules of a program are not known.

use crate::search::SearchError;
use image::ImageError;

/// Why a program cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// A file cannot be read as an image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The program has no interpreter.
    #[error(
        "{0} is static: no loader runs, so nothing can be simulated or made faster; link it dynamically"
    )]
    Static(String),
    /// It is no program at all.
    #[error("{0} is a shared library, not a program; name a program that loads it")]
    SharedLibrary(String),
    /// Its segments reach over its end.
    #[error(
        "{program} is cut short: it has {bytes} bytes where its segments take {needed}; copy or \
         build it again"
    )]
    CutShort {
        /// The program.
        program: String,
        /// How many there are.
        bytes: u64,
        /// How many there should be.
        needed: u64,
    },
    /// Another loader than glibc's.
    #[error(
        "{program} is loaded by {interpreter}; only glibc's loader is simulated; \
         build it for glibc"
    )]
    OtherLoader {
        /// The program.
        program: String,
        /// Its loader.
        interpreter: String,
    },
    /// A library is not found, or is none.
    #[error("{needed_by} needs a library: {source}")]
    Library {
        /// Who needs it.
        needed_by: String,
        /// What is wrong with it.
        source: SearchError,
    },
    /// A rare arrangement.
    #[error(
        "{0} is a filter of another library (DT_FILTER, DT_AUXILIARY): that is not simulated; leave \
         it as it is"
    )]
    Filter(String),
    /// Nothing is known of where libraries of such a machine are.
    #[error("{program}: {source}")]
    Machine {
        /// The program.
        program: String,
        /// Which machine.
        source: SearchError,
    },
}
