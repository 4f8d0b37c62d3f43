//! Code that runs first inside a *bundle*: a program and its libraries merged into one ELF file.
//!
//! The loader calls it through DT_PREINIT_ARRAY: after relocation, before any constructor. It
//! looks whether what was merged is still what is on disk, and starts the original program in
//! the bundle's place where it is not; else it makes the process take itself for the original.
//! It is a blob of position-independent x86-64 code without relocations, followed by its
//! tables. Nothing of it ever runs in headstart.
//!
//! The bundler places [`Blob::bytes`] in a readable and executable segment, puts the address of
//! [`Blob::entry`] first into DT_PREINIT_ARRAY, makes [`Blob::start`] the entry point, and binds
//! the functions of [`Blob::wrappers`] for merged code to the blob.
//!
//! In order: options of a loader that was named, the environment, the files, the names for the
//! loader, what the process believes (`argv[0]`, AT_EXECFN, the process's name), protection of
//! constants. An original that cannot be started, or that is the bundle itself, ends the process
//! with a line on standard error and exit status 127. Starts of an original that is a script or
//! another bundle, and may only start the bundle again, count in the variable `HEADSTART_STALE` of
//! the environment; after 500 the process ends in the same way. Any other value forbids starting
//! the original.

mod blob;
mod folders;
mod read;
mod record;
mod tables;
#[cfg(test)]
mod tests;

pub use blob::{Blob, Function, build};
pub use read::{Difference, Looks};
pub use record::{Expected, Identity, Record};

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Variables by which the environment changes what glibc's loader loads (ld.so(8)).
pub const LOADER_VARIABLES: [&str; 3] = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"];

/// Everything the blob is to know. Offsets are in bytes, from the blob's first byte to the
/// thing in memory, and may be negative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Absolute path by which the program was found (`/usr/bin/clang++`).
    pub original: PathBuf,
    /// That path with links followed.
    pub original_file: PathBuf,
    /// Name of the bundle's file without its folder (`run`).
    pub own_name: OsString,
    /// Variables that must have their value.
    pub environment: Vec<Variable>,
    /// Files that must match.
    pub must: Vec<Record>,
    /// Files of which a mismatch only means that `all` must be examined: folders of system
    /// libraries, `/etc/ld.so.cache`.
    pub hints: Vec<Record>,
    /// Files that must match where a hint does not.
    pub all: Vec<Record>,
    /// Memory that becomes read-only at the end.
    pub relro: Vec<Protected>,
    /// Names of merged libraries for the loader.
    pub names: Option<Names>,
    /// Offset of the bundle's dynamic table, and of the value of DT_DEBUG in the program's own,
    /// to which that of the bundle's is copied. It is writable until `relro` is protected.
    pub debugger: Option<(i64, i64)>,
    /// What runs at the bundle's entry point.
    pub start: Option<Start>,
    /// The merged modules, the program first, in the order of the loader's search, in which their
    /// addresses must ascend. What [`Function::Dladdr`], [`Function::Dlsym`] and
    /// [`Function::Dlinfo`] (this with [`Tables::names`] only) answer of them is taken from here.
    pub modules: Vec<Module>,
    /// The functions to wrap, with the offset of the 8-byte slot that the loader fills with the
    /// real one's address, as a GLOB_DAT relocation tells it.
    pub slots: Vec<(Function, i64)>,
}

/// A variable of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: OsString,
    /// The value it must have; `None` or empty for one that must be unset or empty.
    pub expected: Option<OsString>,
}

impl Variable {
    /// The variables of [`LOADER_VARIABLES`] as `value` gives them, such as
    /// `|name| std::env::var_os(name)`.
    pub fn of_the_loader(value: impl Fn(&OsStr) -> Option<OsString>) -> Vec<Variable> {
        let variable = |name: &str| {
            let expected = value(name.as_ref()).filter(|value| !value.is_empty());
            Variable { name: name.into(), expected }
        };
        LOADER_VARIABLES.into_iter().map(variable).collect()
    }
}

/// Pages that become read-only, as PT_GNU_RELRO describes them for one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protected {
    /// Offset of the first page.
    pub offset: i64,
    /// Length in bytes.
    pub length: u64,
}

/// Names under which the loader is to know the bundle, so that a later `dlopen` or DT_NEEDED of
/// a merged library gives the bundle itself.
///
/// They are a chain of glibc's `struct libname_list` (`include/link.h`) in memory of the bundle
/// that stays writable, as the loader may append to it: 8 bytes address of the name, 8 bytes
/// address of the next node (0 in the last), 4 bytes `dont_free`, which must be 1, and 4 bytes of
/// padding. The chain is ready when the blob runs.
///
/// A module that needs a version of a merged library by such a name needs it of the bundle: where
/// that has version definitions at all, those of every merged library must be among them
/// (`elf/dl-version.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// Offset of the first node.
    pub first: i64,
    /// Offset of the bundle's `.dynamic`, which must have a DT_DEBUG entry.
    pub dynamic: i64,
}

/// What [`Blob::start`] does: it calls the functions that initialise the merged libraries, each
/// with the arguments of the process as the loader gives them (argc, argv, envp), and enters the
/// program; at exit it sees to what finalises them.
///
/// The program's own functions are not among them: its start-up code runs them, either by itself
/// (before glibc 2.34) or from the bundle's DT_INIT_ARRAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Offset of the program's own entry point.
    pub program: i64,
    /// What initialises the libraries.
    pub initialisers: Functions,
    /// What finalises them, to be called from the last one to the first when the loader's own
    /// function at exit has finalised all else. Not for libraries that a module outside needs,
    /// nor where one outside has something to finalise that they may still use.
    pub finalisers: Functions,
    /// Offset of an 8-byte word that stays writable, for use by the blob; where there are
    /// finalisers.
    pub finish: i64,
}

/// An array of 8-byte addresses of functions, relocated and in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// Offset of the first.
    pub offset: i64,
    /// Their number.
    pub count: u64,
}

/// A merged module, as it is in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Path of its file; `None` for the program, of which the C library knows.
    pub path: Option<PathBuf>,
    /// What that file is, for those who open it by another path.
    pub identity: Option<Identity>,
    /// Offset of its first byte in memory.
    pub start: i64,
    /// Offset behind its last one.
    pub end: i64,
    /// Offset of its own address 0, which need not be in memory.
    pub base: i64,
    /// Its thread-local storage, in bytes from the thread pointer.
    pub thread: i64,
    /// Its own symbol table.
    pub symbols: Symbols,
    /// Whether a module that is not merged stands right before it in the loader's search.
    pub behind_outside: bool,
}

/// Offsets of a module's own tables, as its dynamic table names them (DT_SYMTAB …).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// DT_SYMTAB.
    pub table: i64,
    /// Number of its symbols.
    pub count: u64,
    /// DT_STRTAB.
    pub strings: i64,
    /// DT_GNU_HASH.
    pub hash: Option<i64>,
    /// DT_VERSYM.
    pub versions: Option<i64>,
    /// DT_VERDEF.
    pub definitions: Option<i64>,
}

/// Why no blob can be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A path that would depend on the working directory.
    #[error("the start-up guard needs absolute paths, not '{0}'; use an absolute path")]
    Relative(PathBuf),
    /// A text that no file or variable can have.
    #[error(
        "the start-up guard cannot store {0:?}, which is empty or contains a NUL byte; rename \
     it"
    )]
    Text(OsString),
    /// A name with a folder, or of a variable with an equals sign.
    #[error("the start-up guard needs a simple name, not {0:?}, without '/' and '='")]
    Name(OsString),
    /// Two slots for one function.
    #[error("the start-up guard has two slots for {0}; give one")]
    TwoSlots(&'static str),
    /// Modules in one place or out of order.
    #[error("the start-up guard needs the modules in the order of their addresses; sort them")]
    Overlap,
}
