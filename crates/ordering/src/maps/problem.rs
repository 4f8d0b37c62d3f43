//! What can be wrong with a linker's map.

use crate::lines::{Line, LineError, Lines, NoNumber};
use model::Va;

/// A map cannot be read: the file, the line and what is wrong.
pub type MapReadError = LineError<MapProblem>;

/// What is wrong with a line of a map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapProblem {
    /// The file has no line with anything on it.
    #[error("the map is empty; link again, and let the linker write a map")]
    Empty,
    /// None of the formats begins like this.
    #[error(
        "unknown format: this is no map of MSVC, lld-link, GNU ld, gold, ld.lld or mold, and no \
         output of nm; give one of these"
    )]
    Unrecognized,
    /// A symbol without an address.
    #[error("a hexadecimal address is missing; make the map again")]
    NoAddress,
    /// A size or an alignment is missing.
    #[error("a size is missing; make the map again")]
    NoSize,
    /// A number of more than 64 bits.
    #[error("an address or size has more than 64 bits; make the map again")]
    TooLarge,
    /// A symbol without a name.
    #[error("the name of a symbol is missing; make the map again")]
    NoName,
    /// An address in front of the image.
    #[error("the address is below the preferred base {0:#x}; make the map again")]
    BelowBase(Va),
    /// Symbols before the preferred base.
    #[error("the preferred load address is missing before the symbols; make the map again")]
    NoBase,
    /// The map ends here, and should not.
    #[error("the map is cut short after this line; make it again")]
    CutShort,
    /// Symbols of several files.
    #[error("a second file begins here; give the symbols of one image only")]
    SecondFile,
}

impl From<NoNumber> for MapProblem {
    fn from(why: NoNumber) -> MapProblem {
        match why {
            NoNumber::Digits => MapProblem::NoAddress,
            NoNumber::TooLarge => MapProblem::TooLarge,
        }
    }
}

/// The first line that has anything on it is of no known format.
pub(super) fn unrecognized(file: &str, bytes: &[u8]) -> MapReadError {
    match Lines::of(bytes).find(|line| !line.bytes.trim_ascii().is_empty()) {
        Some(line) => line.error(file, MapProblem::Unrecognized),
        None => no_line().error(file, MapProblem::Empty),
    }
}

/// What stands for the line of a file without lines.
pub(super) fn no_line() -> Line<'static> {
    Line { number: 1, bytes: b"", is_whole: false }
}
