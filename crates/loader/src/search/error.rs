//! Why a library is not found.

use std::path::PathBuf;

/// Why a library is not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// Nothing is known of libraries of this machine.
    #[error(
        "where libraries for {machine} are is not known; programs for x86_64, aarch64 and riscv64 \
         can be followed"
    )]
    UnknownMachine {
        /// As image names it.
        machine: String,
    },
    /// There is no such file where the loader looks.
    #[error(
        "{name} is not found in any of the {tried} places where the loader looks; install it, or \
         make its folder known to the loader (ldconfig, or LD_LIBRARY_PATH)"
    )]
    NotFound {
        /// As it was asked for.
        name: String,
        /// Files tried.
        tried: usize,
    },
    /// There is perhaps one, and this user may not read it: the loader takes it for missing.
    #[error("{name} is not found: {}: {reason}", path.display())]
    Denied {
        /// As it was asked for.
        name: String,
        /// The first file that may not be read, or that is in a folder that may not be entered.
        path: PathBuf,
        /// Who may, to follow the path.
        reason: String,
    },
    /// Only files of the other class (32 bits) are there.
    #[error("{name} is there for 32-bit programs only; install the 64-bit library")]
    OtherClass {
        /// As it was asked for.
        name: String,
    },
    /// The first file of that name that is there is damaged or no library: the loader ends the
    /// program then, whatever the folders after it hold.
    #[error(
        "{}: {reason}; the loader stops at this file, which it takes for {name}: remove it or \
         replace it", path.display()
    )]
    Rejected {
        /// As it was asked for.
        name: String,
        /// The file.
        path: PathBuf,
        /// The loader's words.
        reason: &'static str,
    },
}
