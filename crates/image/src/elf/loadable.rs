//! An image as the dynamic loader sees it: what it needs, defines, refers to and relocates.
//!
//! [`facts`](crate::facts) counts what a file holds; this keeps the tables themselves, for those
//! who do what a loader does. 64-bit little-endian ELF only: the machines that a simulated loader
//! is for.

mod hash;
mod parse;
mod relocations;
mod sections;
mod segments;
mod static_symbols;
mod symbols;
mod versions;

pub use hash::{Chain, Hash, gnu_hash, sysv_hash};
pub use relocations::{Class, Relocation};
pub use sections::Section;
pub use segments::alignment;
pub use symbols::{Symbol, SymbolBinding, SymbolKind, Visibility};
pub use versions::Version;

use super::records::{DynamicEntry, FileHeader, ProgramHeader};
use crate::ImageError;
use crate::map;
use crate::notes::string;
use files::Stamp;
use memmap2::Mmap;
use object::LittleEndian;
use std::ops::Range;
use std::path::Path;

pub(super) type Endian = LittleEndian;
const ENDIAN: Endian = LittleEndian;

/// The tables of one image. Whatever the file says, reading them neither fails nor panics: what
/// lies outside of it is not there.
pub struct Loadable {
    bytes: Bytes,
    /// As `uname -m` and readelf name it: `x86_64`.
    pub machine: String,
    /// DT_SONAME.
    pub soname: Option<String>,
    /// DT_NEEDED, in order.
    pub needed: Vec<String>,
    /// DT_RPATH, not split.
    pub rpath: Option<String>,
    /// DT_RUNPATH, not split.
    pub runpath: Option<String>,
    /// PT_INTERP.
    pub interpreter: Option<String>,
    /// Its own definitions come first (DT_SYMBOLIC).
    pub symbolic: bool,
    /// All functions are bound before the program runs (BIND_NOW).
    pub bind_now: bool,
    /// Its libraries are not looked for in the cache and the system's folders (DF_1_NODEFLIB).
    pub no_default_folders: bool,
    /// It is initialized before all others (DF_1_INITFIRST).
    pub first_initialized: bool,
    /// It is a program (not a library that could be loaded beside one): ET_EXEC, or DF_1_PIE.
    pub program: bool,
    /// Another image stands before it where symbols are looked for (DT_FILTER, DT_AUXILIARY).
    pub filters: bool,
    /// Functions to call before and after the program.
    pub initializes: bool,
    /// ET_EXEC: its addresses are fixed.
    pub fixed: bool,
    /// Its file header.
    pub header: FileHeader,
    /// Its build-id, in hexadecimal.
    pub build_id: Option<String>,
    segments: Vec<ProgramHeader>,
    dynamic: Vec<DynamicEntry>,
    /// Symbols by the header of their section (SHT_DYNSYM).
    section_symbols: Option<u32>,
    statics: static_symbols::Static,
    versions: Vec<Option<Version>>,
    hash: Hash,
    tables: Tables,
}

/// Where the tables are in the file.
#[derive(Clone, Debug, Default)]
struct Tables {
    symbols: Range<usize>,
    strings: Range<usize>,
    /// DT_VERSYM, where there is one.
    symbol_versions: Option<Range<usize>>,
    rela: Range<usize>,
    plt: Range<usize>,
    relr: Range<usize>,
    classes: Vec<Class>,
}

enum Bytes {
    Mapped { stamp: Option<Stamp>, bytes: Mmap },
    Held(Vec<u8>),
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Bytes::Mapped { bytes, .. } => bytes,
            Bytes::Held(bytes) => bytes,
        }
    }
}

impl Loadable {
    /// The image file at `path`, which is mapped read-only.
    ///
    /// # Errors
    /// The file cannot be read, is not ELF, or is not for a 64-bit little-endian machine.
    pub fn open(path: &Path) -> Result<Loadable, ImageError> {
        let name = path.to_string_lossy();
        match map(path)? {
            Some((file, bytes)) => {
                // The file itself is closed: a program can have more libraries than a process may
                // have open files.
                let stamp = Stamp::of_file(&file);
                parse::loadable(&name, Bytes::Mapped { stamp, bytes })
            }
            None => parse::loadable(&name, Bytes::Held(Vec::new())),
        }
    }

    /// The image in `bytes`; `path` is only its name in errors.
    ///
    /// # Errors
    /// As [`Loadable::open`].
    pub fn from_bytes(path: &str, bytes: Vec<u8>) -> Result<Loadable, ImageError> {
        parse::loadable(path, Bytes::Held(bytes))
    }

    /// Bytes of a table.
    fn table(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.all().get(range.clone()).unwrap_or(&[])
    }

    /// A string of the dynamic string table.
    fn string(&self, offset: u32) -> &[u8] {
        string(self.table(&self.tables.strings), offset.into())
    }

    /// Identity of the file on disk: device and inode; `None` for bytes.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.stamp().map(|stamp| stamp.identity)
    }

    /// The file on disk as it was when it was opened; `None` for bytes.
    pub fn stamp(&self) -> Option<Stamp> {
        match self.bytes {
            Bytes::Mapped { stamp, .. } => stamp,
            Bytes::Held(_) => None,
        }
    }
}
