//! Why a library is not found.

use std::path::PathBuf;

/// Name of C libraries other than glibc's. With glibc, it is that of a text for the linker.
const C_LIBRARY: &str = "libc.so";

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
        "{}: {reason}; the loader stops at this file, which it takes for {name}: {}", path.display(),
        if name == C_LIBRARY {
            "what needs it was linked against another C library (musl's has this name), and has to \
             be linked against that of the program"
        } else {
            "repair it if it is damaged, or put the right file into a folder that is searched sooner"
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Most such files are the system's, as are texts for a linker.
    #[test]
    fn nobody_is_told_to_remove_a_file() {
        for (name, advice) in [(C_LIBRARY, "musl"), ("libother.so", "repair it if it is damaged")] {
            let path = PathBuf::from("/lib").join(name);
            let error =
                SearchError::Rejected { name: name.to_owned(), path, reason: "invalid ELF header" };
            let text = error.to_string();
            assert!(text.contains(advice) && !text.contains("remove"), "{text}");
        }
    }
}
