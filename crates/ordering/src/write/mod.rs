//! Order files, in the form that each linker reads.
//!
//! | linker | file | what it lists |
//! |---|---|---|
//! | ld.lld, `rust-lld` | `--symbol-ordering-file` | symbols |
//! | gold | `--section-ordering-file` | sections |
//! | GNU ld from 2.43 on | `--section-ordering-file` | sections, in a fragment of a linker script |
//! | GNU ld of any age | `-T` | sections, in a script that is added to the linker's own |
//! | GNU ld of any age | arguments of objcopy | new names of sections, which its script sorts |
//! | ld64, ld64.lld | `-order_file` | symbols with an underscore in front |
//! | Microsoft's linker, lld-link | `/ORDER:@file` | decorated symbols |
//!
//! mold has no option for an order of functions.

mod along;
mod gold;
mod ld64;
mod listing;
mod lld;
mod msvc;
mod objcopy;
mod reach;
mod script;
mod sections;
#[cfg(test)]
mod tests;

pub use along::{MovedAlong, moved_along};
pub use msvc::{LONGEST_NAME, statics};
pub use reach::Relinker;
pub use sections::InputSections;

/// Who reads the order file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linker {
    /// ld.lld, and rust-lld.
    Lld,
    /// gold.
    Gold,
    /// GNU ld from 2.43 on.
    Bfd,
    /// GNU ld of any age, whose script gets one more output section.
    Script,
    /// objcopy, before GNU ld of any age.
    Objcopy,
    /// Apple's ld64, and ld64.lld.
    Ld64,
    /// Microsoft's linker.
    Msvc,
    /// lld-link.
    LldLink,
}

impl Linker {
    /// Whether it moves what a symbol names; else it moves sections by their names.
    pub(crate) fn knows_symbols(self) -> bool {
        matches!(self, Linker::Lld | Linker::Ld64 | Linker::Msvc | Linker::LldLink)
    }
}

/// A function in the order, as its linker knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedFunction<'a> {
    /// All its names; none where nobody knows one.
    pub names: &'a [String],
}

/// An order file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderFile {
    /// Its content.
    pub text: String,
    /// Functions that it has.
    pub functions: usize,
    /// Names that it lists; a function may have several.
    pub names: usize,
    /// Functions that it does not have, and why.
    pub left_out: Vec<UnlistedFunction>,
}

/// A function that an order file does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedFunction {
    /// Its name; empty where it has none.
    pub name: String,
    /// Why.
    pub reason: UnlistedReason,
}

/// Why a function is not in an order file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnlistedReason {
    /// Nobody knows its name: only the unwind table knows of it.
    NoName,
    /// It has no section of its own: its file was compiled without `-ffunction-sections`, or it is
    /// written in assembly.
    NoSection,
    /// Its name has a character that the file's format has a meaning for.
    OddName,
    /// Only its own object file can refer to it, and the linker does not move such functions.
    Static,
    /// Its name is so long that the linker may crash.
    TooLong,
    /// Its name has a number that is another one in the next build.
    NameOfOneBuild,
}

impl UnlistedReason {
    /// In words, behind so many functions.
    pub fn words(self, functions: u64) -> String {
        let [have, are, them] = match functions {
            1 => ["has a name", "is", "it"],
            _ => ["have names", "are", "them"],
        };
        let one = functions == 1;
        match self {
            UnlistedReason::NoName => {
                let have = if one { "has" } else { "have" };
                format!("{have} no name: only the unwind table knows of {them}")
            }
            UnlistedReason::NoSection => {
                let share = if one { "shares" } else { "share" };
                format!("{share} a section with others; compile {them} with -ffunction-sections")
            }
            UnlistedReason::OddName => format!("{have} that an order file cannot list"),
            UnlistedReason::Static => format!("{are} static: this linker does not move {them}"),
            UnlistedReason::TooLong => format!(
                "{have} so long that this linker may crash: it crashed at 3,345 characters, and \
                 accepts 1,670"
            ),
            UnlistedReason::NameOfOneBuild => {
                let names = if one { "its name changes" } else { "their names change" };
                format!("{are} in an unnamed namespace: {names} from build to build")
            }
        }
    }
}

/// The order file that `linker` reads, of functions in this order. `sections` tells which function
/// is in which section of its object file, where that is known; else it is as compilers name the
/// sections of `-ffunction-sections`.
pub fn write(
    linker: Linker,
    functions: &[OrderedFunction<'_>],
    sections: Option<&InputSections>,
) -> OrderFile {
    match linker {
        Linker::Lld => lld::write(functions),
        Linker::Gold => gold::write(functions, sections),
        Linker::Bfd => script::ordering_file(functions, sections),
        Linker::Script => script::added_section(functions, sections),
        Linker::Objcopy => objcopy::write(functions, sections),
        Linker::Ld64 => ld64::write(functions),
        Linker::Msvc => msvc::write_msvc(functions),
        Linker::LldLink => msvc::write_lld_link(functions),
    }
}
