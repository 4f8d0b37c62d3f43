//! Static facts of an image file, by its format.

use crate::{PeFacts, PfFacts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// File format of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// ELF.
    #[default]
    Elf,
    /// PE, as Windows and Wine load it.
    Pe,
}

/// Static facts of one image file, by its format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "format", rename_all = "snake_case")]
pub enum ImageFacts {
    /// ELF.
    Elf(Box<ElfFacts>),
    /// PE, as Windows and Wine load it.
    Pe(Box<PeFacts>),
}

impl ImageFacts {
    /// The file, as it was named.
    pub fn path(&self) -> &str {
        match self {
            ImageFacts::Elf(facts) => &facts.path,
            ImageFacts::Pe(facts) => &facts.path,
        }
    }

    /// Parts of the file that contradict its format.
    pub fn problems(&self) -> &[String] {
        match self {
            ImageFacts::Elf(facts) => &facts.problems,
            ImageFacts::Pe(facts) => &facts.problems,
        }
    }
}

/// What is told of a file that is inspected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InspectedFile {
    /// Of an image.
    Image(ImageFacts),
    /// Of a prefetch file of Windows.
    Prefetch(Box<PfFacts>),
}

/// What an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageKind {
    /// A program at a fixed address (ET_EXEC) that needs a loader.
    Executable,
    /// A position-independent program (PIE) that needs a loader.
    PositionIndependentExecutable,
    /// A program at a fixed address without a loader.
    StaticExecutable,
    /// A position-independent program that relocates itself.
    StaticPie,
    /// A shared library or plug-in.
    SharedLibrary,
    /// The dynamic loader itself, or a libc that is one (musl).
    Loader,
    /// An object file for the linker (ET_REL).
    Object,
    /// A core dump (ET_CORE).
    Core,
}

/// Symbol hash tables of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HashStyle {
    /// No hash table.
    None,
    /// DT_HASH only: no Bloom filter, slow failed look-ups.
    Sysv,
    /// DT_GNU_HASH only.
    Gnu,
    /// Both.
    Both,
}

/// How much of the relocated data is made read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relro {
    /// No PT_GNU_RELRO.
    None,
    /// PT_GNU_RELRO, lazy binding.
    Partial,
    /// PT_GNU_RELRO and BIND_NOW.
    Full,
}

/// The program interpreter named by PT_INTERP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Interpreter(
    /// Path as written in the image.
    pub String,
);

/// A library search path of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchPath {
    /// `DT_RPATH` or `DT_RUNPATH`.
    pub tag: String,
    /// Folders as written, `$ORIGIN` not expanded.
    pub folders: Vec<String>,
}

/// Versions that an image needs of one library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionNeed {
    /// The library's name as written in the image.
    pub library: String,
    /// Names of the versions.
    pub versions: Vec<String>,
}

/// Static facts of one ELF file, as its tables state them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElfFacts {
    /// The file, as it was named.
    pub path: String,
    /// What the image is for.
    pub kind: ImageKind,
    /// `x86_64`, `i386`, `aarch64`, …; `machine N` where unknown.
    pub machine: String,
    /// 32 or 64.
    pub bits: u8,
    /// Byte order of the file.
    pub little_endian: bool,
    /// Size of the file.
    pub file_bytes: u64,
    /// Program interpreter.
    pub interpreter: Option<Interpreter>,
    /// DT_SONAME.
    pub soname: Option<String>,
    /// GNU build-id in lower-case hexadecimal.
    pub build_id: Option<String>,
    /// DT_NEEDED, in order.
    pub needed: Vec<String>,
    /// DT_RPATH and DT_RUNPATH.
    pub search_paths: Vec<SearchPath>,
    /// Relocations by type, named as readelf names them; RELR-packed ones decoded and counted
    /// under `RELR`.
    pub relocations: BTreeMap<String, u64>,
    /// Of these, relocations that no loader applies: all those of object files, and those that
    /// `--emit-relocs` keeps. They count in none of the figures below but the table bytes.
    #[serde(default)]
    pub link_time_relocations: u64,
    /// Relocations that add the load address only (RELATIVE and RELR).
    pub relative_relocations: u64,
    /// Relocations that need a symbol look-up.
    pub symbolic_relocations: u64,
    /// Of these, look-ups through the procedure linkage table (JUMP_SLOT).
    pub plt_relocations: u64,
    /// Relocations decided by a resolver function at load time.
    pub irelative_relocations: u64,
    /// COPY relocations.
    pub copy_relocations: u64,
    /// Thread-local-storage relocations.
    pub tls_relocations: u64,
    /// Bytes of the relocation tables, RELR included.
    pub relocation_table_bytes: u64,
    /// 4 KiB pages that the loader's relocations write to.
    pub relocated_pages: u64,
    /// Undefined dynamic symbols.
    pub imports: u64,
    /// Defined dynamic symbols with global, weak or unique binding.
    pub exports: u64,
    /// Symbol hash tables.
    pub hash_style: HashStyle,
    /// DT_RELR is present.
    pub relr: bool,
    /// DF_BIND_NOW, DF_1_NOW or DT_BIND_NOW.
    pub bind_now: bool,
    /// Read-only after relocation.
    pub relro: Relro,
    /// DT_TEXTREL or DF_TEXTREL: relocations write to code.
    pub text_relocations: bool,
    /// DT_SYMBOLIC or DF_SYMBOLIC.
    pub symbolic: bool,
    /// DF_STATIC_TLS.
    pub static_tls: bool,
    /// Entries of DT_PREINIT_ARRAY and DT_INIT_ARRAY, plus DT_INIT; in static programs those of
    /// the sections that hold the arrays, plus `.init`.
    #[serde(rename = "initialisers")]
    pub initializers: u64,
    /// Entries of DT_FINI_ARRAY, plus DT_FINI; in static programs likewise.
    #[serde(rename = "finalisers")]
    pub finalizers: u64,
    /// Symbol versions needed.
    pub version_needs: Vec<VersionNeed>,
    /// Names of symbol versions defined.
    pub version_definitions: Vec<String>,
    /// Bytes of PT_LOAD segments in the file.
    pub load_file_bytes: u64,
    /// Bytes of PT_LOAD segments in memory.
    pub load_memory_bytes: u64,
    /// Number of PT_LOAD segments.
    pub load_segments: u32,
    /// Bytes of executable segments.
    pub code_bytes: u64,
    /// PT_GNU_STACK asks for an executable stack.
    pub executable_stack: bool,
    /// `.symtab` is present.
    pub has_symbol_table: bool,
    /// `.debug_info` is present.
    pub has_debug_info: bool,
    /// Parts of the file that contradict the format; what was read is still reported.
    pub problems: Vec<String>,
}

impl ElfFacts {
    /// All relocations.
    pub fn relocation_count(&self) -> u64 {
        self.relocations.values().sum()
    }
}
