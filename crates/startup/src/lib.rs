//! Code that runs inside a *bundle* (a program and its libraries merged into one ELF file) before
//! its program: the *preamble*. Nothing of it ever runs in headstart.
//!
//! The loader calls it through DT_PREINIT_ARRAY: after relocation, before any constructor. It
//! checks whether what was merged is still what is on disk, and starts the original program in
//! the bundle's place where it is not; else it makes the process take itself for the original.
//! It is position-independent x86-64 code without relocations, followed by its tables.
//!
//! The bundler places the [`Preamble`] in a readable and executable segment, puts the address of
//! [`entry`] first into DT_PREINIT_ARRAY, makes [`start`] the entry point, and binds functions for
//! merged code to [`WrappedFunction::wrapper`].
//!
//! [`early()`] relocates the bundle. Before that it reads the bundle ahead where it is not in memory, in part by a
//! process of its own, and copies pages that relocation writes to. It has to be the resolver of the first relocation
//! that is not relative, so that it runs before anything is touched.
//!
//! In order: options of a loader that was named, the environment, the files, the builds of what is loaded
//! beside it, the names for the loader, what the process believes (`argv[0]`, AT_EXECFN, the process's name), protection of
//! constants. An original that cannot be started, or that is the bundle itself, ends the process
//! with a line on standard error and exit status 127. Starts of an original that is a script or
//! another bundle, and may only start the bundle again, count in the variable `HEADSTART_STALE` of
//! the environment; after 500 the process ends in the same way. Any other value forbids starting
//! the original. Where `HEADSTART_TRACE` is set a line on standard error tells what was found; where it
//! is `verify`, [`Answer`] reads that from standard output, and the process ends there.
//!
//! Where merged code executes the original's path, a wrapper executes `/proc//self/exe` or
//! `/proc/self//exe`. By these spellings of AT_EXECFN the new process knows that the program has
//! executed itself, by which path, and that `argv[0]` is to stay.
//!
//! A tool of a toolchain ([`Tool`]) has several names, and executes other bundles in the place of programs.
//!
//! It is assembly, as most of it could not be anything else: no compiler promises code without
//! relocations and calls of its own (`memcpy`), and wrappers pass the caller's registers and stack
//! on as they came. A test decodes every instruction; the structs are shared with Rust.

mod ahead;
mod answer;
#[macro_use]
mod assemble;
#[allow(unsafe_code)] // The code's bytes, between two symbols.
mod code;
mod early;
mod folders;
mod merged;
mod plugin;
mod read;
mod record;
#[allow(unsafe_code)] // The code itself, which nothing here calls.
mod shared;
mod tables;
mod tool;

pub use ahead::{AheadList, AheadPage, AheadPart, AheadRange, BesideFile};
pub use answer::{Answer, STALE_VARIABLE, TRACE_ANSWERS, TRACE_VARIABLE, forbids_original};
use code::code;
pub use code::{early, entry, plugin_entry, start};
pub use early::{EarlyAddresses, RecordedPages, WrittenPages};
pub use merged::{Finish, PreambleModule, PreambleOutline};
pub use plugin::{Plugin, PluginFile};
pub use read::Checks;
pub use record::{Expected, FileIdentity, FileRecord};
pub use shared::WrappedFunction;
pub use tables::Preamble;
pub use tool::{Companion, Named, Searched, Tool};

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Variables by which the environment changes what glibc's loader loads (ld.so(8)).
pub const LOADER_VARIABLES: [&str; 3] = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"];

/// What the preamble is to know, and on which its size depends. Offsets are in bytes, from the
/// preamble's first byte to the thing in memory, and may be negative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Absolute path by which the program was found (`/usr/bin/clang++`).
    pub original: PathBuf,
    /// That path with links followed.
    pub original_file: PathBuf,
    /// What has to be there for a program that executes itself by its path to start the bundle.
    pub original_look: OriginalLook,
    /// What is started where the bundle is stale, if not the original by its path: the file that was
    /// merged, where the bundle itself stands at that path.
    pub instead: Option<PathBuf>,
    /// Name of the bundle's file without its folder (`run`).
    pub own_name: OsString,
    /// Variables that must have their value.
    pub environment: Vec<Variable>,
    /// Files that must match.
    pub must: Vec<FileRecord>,
    /// Files of which a mismatch only means that `all` must be examined: folders of system
    /// libraries, `/etc/ld.so.cache`.
    pub hints: Vec<FileRecord>,
    /// Files that must match where a hint does not.
    pub all: Vec<FileRecord>,
    /// What the loader's cache must have where a hint does not match.
    pub cached: Vec<CachedName>,
    /// Loaded files of which the build must match.
    pub builds: Vec<LoadedBuild>,
    /// What is told of a bundle that is used, to whom it may interest, behind its name.
    pub used: String,
    /// What the first entries of the table of functions are to be ([`Stubs::table`]), where nothing else is
    /// loaded beside the bundle than `fill_libraries`.
    pub fills: Vec<Fill>,
    /// The C library and the loader, at most two.
    pub fill_libraries: Vec<LoadedBuild>,
    /// Paths of libraries that the bundle carries in a folder of its own, and the names by which the loader
    /// finds them there.
    pub carried: Vec<(PathBuf, OsString)>,
    /// What it is to a toolchain.
    pub tool: Tool,
    /// Files of merged plug-ins, beside the bundle.
    pub plugin_files: Vec<PluginFile>,
    /// What is in those, but for libraries that nothing opens.
    pub plugins: Vec<Plugin>,
    /// How many modules the global scope has while nothing is opened into it: the bundle and what stays outside.
    pub scope: u64,
    /// Where `dl_iterate_phdr` is in the C library (`libc.so.6`); 0 where it is not known, and then no plug-in is opened.
    pub iterate: u64,
    /// Memory that becomes read-only at the end.
    pub relro: Vec<Protected>,
    /// The merged modules, the program first, in the order of the loader's search, in which their addresses must ascend.
    /// What `dladdr`, `dlsym` and `dlinfo` (this with [`Addresses::names`] only) answer of them is taken from here.
    pub modules: Vec<MergedModule>,
}

/// What has to be at the original's path where the program executes itself by that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OriginalLook {
    /// Such a program never starts the bundle by itself.
    #[default]
    Never,
    /// This file.
    File(FileIdentity),
    /// This file or a copy of it.
    Copy(FileIdentity),
    /// This file, a copy of it, or nothing at all.
    CopyOrNothing(FileIdentity),
}

/// A name for which the loader's cache was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedName {
    /// The name, as of DT_NEEDED.
    pub name: OsString,
    /// All paths that the cache had for it, up to the first one that is for all processors.
    pub paths: Vec<PathBuf>,
}

/// A file that is loaded beside the bundle, and which build of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedBuild {
    /// Its name without a folder.
    pub name: OsString,
    /// Its build-id (NT_GNU_BUILD_ID).
    pub id: Vec<u8>,
}

/// Offsets of the bundle's own data, which has its place when the preamble's size is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// The first byte of the bundle's file, the ELF header.
    pub image: i64,
    /// The bundle's `.dynamic`, which must have a DT_DEBUG entry.
    pub dynamic: i64,
    /// The first of the names under which the loader is to know the bundle, so that a later
    /// `dlopen` or DT_NEEDED of a merged library gives the bundle itself.
    ///
    /// They are a chain of glibc's `struct libname_list` (`include/link.h`) in memory of the bundle
    /// that stays writable, as the loader may append to it: 8 bytes address of the name, 8 bytes
    /// address of the next node (0 in the last), 4 bytes `dont_free`, which must be 1, and 4 bytes
    /// of padding. The chain is ready when the preamble runs.
    ///
    /// A module that needs a version of a merged library by such a name needs it of the bundle:
    /// where that has version definitions at all, those of every merged library must be among them
    /// (`elf/dl-version.c`).
    pub names: Option<i64>,
    /// The first of the names for files of plug-ins, as many and of the same kind; their chains need not be linked.
    pub plugin_names: i64,
    /// The value of DT_DEBUG in the program's own dynamic table, to which that of the bundle's is
    /// copied. It is writable until [`Tables::relro`] is protected.
    pub debugger: Option<i64>,
    /// What runs at the bundle's entry point.
    pub start: Start,
    /// The 8-byte slots that the loader fills with the addresses of the functions that the wrappers
    /// replace, as relocations for calls tell it: one for each of [`WrappedFunction::ALL`].
    pub slots: i64,
    /// What stands for functions outside.
    pub stubs: Stubs,
    /// Where the bundle relocates itself.
    pub early: Option<EarlyAddresses>,
}

/// Code that stands for functions outside: its addresses are theirs for all, but for [`WrappedFunction::Dladdr`],
/// which tells of the functions themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stubs {
    /// The stubs, each of 32 bytes.
    pub functions: Functions,
    /// Offset of the table: an 8-byte address for each. The loader finds each function when it is first called;
    /// where only [`Tables::fill_libraries`] are loaded beside the bundle, the preamble fills the table before
    /// that.
    pub table: i64,
    /// The pages with the table, which are read-only once that is filled.
    pub pages: Protected,
}

/// A function of a library outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Which of the libraries.
    pub library: FillLibrary,
    /// Its address there, or that of its resolver.
    pub address: u64,
    /// Whether a resolver tells the address (IFUNC).
    pub selects: bool,
}

/// Which of [`Tables::fill_libraries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillLibrary {
    /// The first one.
    First,
    /// The second one.
    Second,
}

impl Fill {
    /// As the code takes it.
    fn place(&self) -> u64 {
        let library = u64::from(self.library == FillLibrary::Second);
        u64::from(self.selects) << 63 | library << 62 | self.address & ((1 << 62) - 1)
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    /// Offset of the first page.
    pub offset: i64,
    /// Length in bytes.
    pub length: u64,
}

/// What the code at [`start`] does: it calls the functions that initialize the merged libraries, each
/// with the arguments of the process as the loader gives them (argc, argv, envp), and enters the
/// program; at exit it sees to what finalizes them.
///
/// The program's own functions are not among them: its start-up code runs them, either by itself
/// (before glibc 2.34) or from the bundle's DT_INIT_ARRAY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Offset of the program's own entry point.
    pub program: i64,
    /// What initializes the libraries.
    pub initializers: Functions,
    /// What finalizes them, to be called from the last one to the first when the loader's own
    /// function at exit has finalized all else. Not for libraries that a module outside needs,
    /// nor where one outside has something to finalize that they may still use.
    pub finalizers: Functions,
    /// Offset of an 8-byte word that stays writable, for use by the preamble; where there are
    /// finalizers.
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
pub struct MergedModule {
    /// Path of its file; `None` for the program, of which the C library knows.
    pub path: Option<PathBuf>,
    /// What that file is, for those who open it by another path. Inode 0 where it may be a copy.
    pub identity: Option<FileIdentity>,
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

/// Why no preamble can be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A path that would depend on the working directory.
    #[error("the preamble needs absolute paths, not '{0}'; use an absolute path")]
    Relative(PathBuf),
    /// A text that no file or variable can have.
    #[error("the preamble cannot store {0:?}, which is empty or contains a NUL byte; rename it")]
    Text(OsString),
    /// A name with a folder, or of a variable with an equals sign.
    #[error("the preamble needs a simple name, not {0:?}, without '/' and '='")]
    Name(OsString),
    /// Modules in one place or out of order.
    #[error("the preamble needs the modules in the order of their addresses; sort them")]
    Overlap,
}
