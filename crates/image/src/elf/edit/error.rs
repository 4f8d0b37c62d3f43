//! Why an ELF file is not rewritten.

use crate::elf::Payload;
use model::Va;

/// Why an image is not rewritten. The file's name is the caller's to add.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Its tables contradict one another, or lie outside of the file.
    #[error("{what} {found}; the file is damaged or of an unknown kind, copy or build it again")]
    Damaged {
        /// Which table.
        what: &'static str,
        /// What is wrong with it.
        found: String,
    },
    /// Sound, but of a kind that is not rewritten.
    #[error("{0}")]
    Unsupported(&'static str),
    /// It has data that is not part of its program, which the change would move.
    #[error(
        "it has {0}; a program may read such data from its own file, and the change would move it \
         or the file's end: the file is left as it is"
    )]
    CarriesData(Payload),
    /// An address that is not in the file.
    #[error("address {address:#x} is not in the file: {what} cannot be written there")]
    NotInFile {
        /// Where.
        address: Va,
        /// What was to be written.
        what: &'static str,
    },
}

impl EditError {
    pub(super) fn outside(what: &'static str) -> EditError {
        let found = "lie outside of the file".to_owned();
        EditError::Damaged { what, found }
    }
}
