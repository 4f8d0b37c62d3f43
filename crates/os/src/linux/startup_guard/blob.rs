//! The blob's code, and the blob as the bundler gets it.

use super::tables::Writer;
use super::{BuildError, Tables};

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the start-up guard exists for x86-64 only");

core::arch::global_asm!(
    include_str!("guard.s"),
    include_str!("loader.s"),
    include_str!("records.s"),
    include_str!("names.s"),
    include_str!("memory.s"),
    include_str!("tell.s"),
    include_str!("stale.s"),
    include_str!("start.s"),
    include_str!("wrappers.s"),
    include_str!("modules.s"),
    include_str!("next.s"),
    include_str!("open.s"),
    include_str!("origin.s"),
    include_str!("end.s"),
    options(raw)
);

unsafe extern "C" {
    static headstart_startup_guard_begin: u8;
    static headstart_startup_guard_end: u8;
}

/// A function of the C library that the blob can stand in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Function {
    /// `readlink`
    Readlink,
    /// `readlinkat`
    Readlinkat,
    /// `__readlink_chk`
    ReadlinkChk,
    /// `__readlinkat_chk`
    ReadlinkatChk,
    /// `realpath`
    Realpath,
    /// `__realpath_chk`
    RealpathChk,
    /// `canonicalize_file_name`
    CanonicalizeFileName,
    /// `dladdr`
    Dladdr,
    /// `dladdr1`
    Dladdr1,
    /// `dlsym`
    Dlsym,
    /// `dlvsym`
    Dlvsym,
    /// `dlopen`
    Dlopen,
    /// `dlinfo`
    Dlinfo,
}

impl Function {
    /// Every function, in the order of the blob's directory and slots.
    pub const ALL: [Function; 13] = [
        Function::Readlink,
        Function::Readlinkat,
        Function::ReadlinkChk,
        Function::ReadlinkatChk,
        Function::Realpath,
        Function::RealpathChk,
        Function::CanonicalizeFileName,
        Function::Dladdr,
        Function::Dladdr1,
        Function::Dlsym,
        Function::Dlvsym,
        Function::Dlopen,
        Function::Dlinfo,
    ];

    /// Its symbol.
    pub fn name(self) -> &'static str {
        match self {
            Function::Readlink => "readlink",
            Function::Readlinkat => "readlinkat",
            Function::ReadlinkChk => "__readlink_chk",
            Function::ReadlinkatChk => "__readlinkat_chk",
            Function::Realpath => "realpath",
            Function::RealpathChk => "__realpath_chk",
            Function::CanonicalizeFileName => "canonicalize_file_name",
            Function::Dladdr => "dladdr",
            Function::Dladdr1 => "dladdr1",
            Function::Dlsym => "dlsym",
            Function::Dlvsym => "dlvsym",
            Function::Dlopen => "dlopen",
            Function::Dlinfo => "dlinfo",
        }
    }

    /// The function of that symbol.
    pub fn named(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }
}

/// Code and tables, ready to be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Everything; to be placed at a multiple of [`Blob::ALIGNMENT`], readable and executable.
    /// Nothing writes to it.
    pub bytes: Vec<u8>,
    /// Offset of the function for DT_PREINIT_ARRAY.
    pub entry: u64,
    /// Offset of the code for the entry point of the bundle's ELF header, where the tables have
    /// a [`super::Start`].
    pub start: Option<u64>,
    /// Offsets of the functions that stand in for the C library's, for those with a slot.
    pub wrappers: Vec<(Function, u64)>,
}

impl Blob {
    /// Bytes of which the blob's address is a multiple.
    pub const ALIGNMENT: u64 = 16;
}

/// Where things are in the code, as its first words say.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    #[cfg(test)]
    Code,
    #[cfg(test)]
    CodeEnd,
    Entry,
    Start,
    Wrapper(Function),
}

impl Place {
    /// Offset of the place from the code's first byte.
    pub(super) fn offset(self) -> u64 {
        let index = match self {
            #[cfg(test)]
            Place::Code => 0,
            #[cfg(test)]
            Place::CodeEnd => 1,
            Place::Entry => 2,
            Place::Start => 3,
            Place::Wrapper(function) => 4 + function as usize,
        };
        let (words, _) = code().as_chunks::<4>();
        words.get(index).map_or(0, |word| u64::from(u32::from_le_bytes(*word)))
    }
}

/// The code, with its directory and texts before it; the tables go right behind it.
pub(super) fn code() -> &'static [u8] {
    let begin = &raw const headstart_startup_guard_begin;
    let end = &raw const headstart_startup_guard_end;
    // SAFETY: the assembler places both symbols in one section, the end behind the beginning,
    // and everything between them is read-only data of this program for as long as it runs.
    unsafe { std::slice::from_raw_parts(begin, end.offset_from_unsigned(begin)) }
}

/// Makes the blob that checks and tells what the tables say. The same tables give the same bytes,
/// and other offsets, identities or times of the same kind a blob of the same length.
///
/// # Errors
/// Where a path is relative, or a text cannot be one.
pub fn build(tables: &Tables) -> Result<Blob, BuildError> {
    let bytes = Writer::new(code()).write(tables)?;
    let offset = |function| (function, Place::Wrapper(function).offset());
    let wrappers = tables.slots.iter().map(|&(function, _)| offset(function)).collect();
    let start = tables.start.map(|_| Place::Start.offset());
    Ok(Blob { bytes, entry: Place::Entry.offset(), start, wrappers })
}
