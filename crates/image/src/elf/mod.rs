//! The ELF reader. Tables are found as readelf finds them, through section headers, and where
//! there are none as a loader does, through PT_DYNAMIC.

/// Calls a reader that has the file's headers as its type, with the path, the bytes and the byte order.
macro_rules! read_as_its_class {
    ($read:ident, $path:expr, $bytes:expr) => {{
        let (class, endian) = super::form($path, $bytes)?;
        match class {
            elf::ELFCLASS64 => $read::<elf::FileHeader64<Endianness>>($path, $bytes, endian),
            _ => $read::<elf::FileHeader32<Endianness>>($path, $bytes, endian),
        }
    }};
}

mod build_id;
mod bundle;
mod counts;
mod dynamic;
pub mod edit;
mod exports;
mod frames;
mod function_table;
mod functions;
mod imports;
mod interpreter;
mod kind;
mod layout;
pub mod loadable;
mod machine;
mod pages;
mod payload;
mod read;
pub mod records;
mod relocation_types;
mod relocations;
pub mod relr;
mod run_time;
mod sanitizer;
mod scan;
pub mod spec;
mod starts;
mod symbols;
mod versions;

pub(crate) use build_id::{of_bytes as build_id_of, read as build_id};
pub use bundle::{merged, merged_at, preamble};
pub use frames::FunctionBounds;
pub(crate) use function_table::function_table;
pub(crate) use functions::{placed, starting};
pub(crate) use interpreter::of_bytes as interpreter_of;
pub use loadable::Loadable;
pub(crate) use machine::name as machine_name;
pub use payload::{Payload, PayloadPlace, trailing_data};
pub(crate) use read::Elf;
pub use relocation_types::Class;
pub(crate) use relocation_types::classes;
pub(crate) use relocations::written_pages;
pub use run_time::{looks_up, possible_names};
pub use sanitizer::{Sanitizer, instrumented, sanitizer};
pub(crate) use starts::starts;

/// A file of the machines that a simulated loader is for.
pub(crate) type Elf64<'a> = Elf<'a, elf::FileHeader64<LittleEndian>>;

use crate::error::{self, ImageError};
use crate::notes::Notes;
use model::{ElfFacts, ImageKind};
use object::elf::{self, DataEncoding, FileClass};
use object::read::elf::FileHeader;
use object::{BigEndian, Endianness, LittleEndian};
use std::fs::File;
use std::path::Path;

const CLASS_OFFSET: usize = 4;
const DATA_OFFSET: usize = 5;

/// Static facts of the ELF file at `path`, which is mapped read-only.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is not ELF.
pub fn facts(path: &Path) -> Result<ElfFacts, ImageError> {
    let name = path.to_string_lossy();
    match crate::map(path)? {
        Some((file, bytes)) => facts_of_file(&name, &bytes, Some(&file)),
        None => facts_of(&name, &[]),
    }
}

/// Static facts of the ELF file in `bytes`; `path` is only its name in the facts and errors.
///
/// Format: System V ABI (gABI), chapters 4 and 5, with the GNU extensions.
///
/// # Errors
/// The bytes are not ELF, or end within the ELF header.
pub fn facts_of(path: &str, bytes: &[u8]) -> Result<ElfFacts, ImageError> {
    facts_of_file(path, bytes, None)
}

/// Facts of the ELF file in `bytes`, which may be mapped from `source`.
pub(crate) fn facts_of_file(
    path: &str,
    bytes: &[u8],
    source: Option<&File>,
) -> Result<ElfFacts, ImageError> {
    use elf::{FileHeader32, FileHeader64};
    match form(path, bytes)? {
        (elf::ELFCLASS64, Endianness::Little) => {
            read_all::<FileHeader64<LittleEndian>>(path, bytes, source, LittleEndian)
        }
        (elf::ELFCLASS64, Endianness::Big) => {
            read_all::<FileHeader64<BigEndian>>(path, bytes, source, BigEndian)
        }
        (_, Endianness::Little) => {
            read_all::<FileHeader32<LittleEndian>>(path, bytes, source, LittleEndian)
        }
        (_, Endianness::Big) => read_all::<FileHeader32<BigEndian>>(path, bytes, source, BigEndian),
    }
}

/// Class and byte order of an ELF file.
pub(crate) fn form(path: &str, bytes: &[u8]) -> Result<(FileClass, Endianness), ImageError> {
    if !crate::is_elf(bytes) {
        return Err(ImageError::unrecognized(path, bytes, &error::ELF));
    }
    let (Some(&class), Some(&data)) = (bytes.get(CLASS_OFFSET), bytes.get(DATA_OFFSET)) else {
        return Err(truncated(path, bytes));
    };
    let undefined = |field, value, offset| {
        Err(ImageError::Undefined { path: path.to_owned(), field, value, offset })
    };
    match (FileClass(class), DataEncoding(data)) {
        (elf::ELFCLASS32 | elf::ELFCLASS64, elf::ELFDATA2LSB) => {
            Ok((FileClass(class), Endianness::Little))
        }
        (elf::ELFCLASS32 | elf::ELFCLASS64, elf::ELFDATA2MSB) => {
            Ok((FileClass(class), Endianness::Big))
        }
        (elf::ELFCLASS32 | elf::ELFCLASS64, _) => undefined("EI_DATA", data, DATA_OFFSET),
        _ => undefined("EI_CLASS", class, CLASS_OFFSET),
    }
}

fn truncated(path: &str, bytes: &[u8]) -> ImageError {
    ImageError::Truncated { path: path.to_owned(), format: "ELF", bytes: bytes.len() }
}

fn read_all<H: FileHeader>(
    path: &str,
    bytes: &[u8],
    source: Option<&File>,
    endian: H::Endian,
) -> Result<ElfFacts, ImageError> {
    let notes = &mut Notes::new(bytes.len());
    let file = &Elf::<H>::parse(path, bytes, endian, source, notes)?;
    let dynamic = &file.dynamic;
    let layout = layout::read(file, notes);
    let functions = layout::functions(file);
    let imports = imports::read(file, notes);
    let exports = exports::read(file, notes);
    let relocations = relocations::read(file, notes);
    let symbols = symbols::read(file, relocations.symbols_at_least, notes);
    let build_id = build_id::read(file, notes);
    let kind = kind::of(file, &layout, exports.soname.as_deref(), notes);
    let bind_now = dynamic.has(elf::DT_BIND_NOW)
        || dynamic.flag(elf::DT_FLAGS, elf::DF_BIND_NOW.0)
        || dynamic.flag(elf::DT_FLAGS_1, elf::DF_1_NOW.0);
    let bits = if H::is_type_64_sized() { 64 } else { 32 };
    Ok(ElfFacts {
        path: path.to_owned(),
        kind,
        machine: machine::name(file.header.e_machine(endian), bits),
        bits,
        little_endian: file.header.is_little_endian(),
        file_bytes: bytes.len() as u64,
        soname: exports.soname,
        build_id,
        needed: imports.needed,
        search_paths: imports.search_paths,
        relocations: relocations.by_type,
        link_time_relocations: relocations.link_time,
        relative_relocations: relocations.relative,
        symbolic_relocations: relocations.symbolic,
        plt_relocations: relocations.plt,
        irelative_relocations: relocations.irelative,
        copy_relocations: relocations.copy,
        tls_relocations: relocations.tls,
        relocation_table_bytes: relocations.table_bytes,
        relocated_pages: relocations.pages,
        imports: symbols.imports,
        exports: symbols.exports,
        hash_style: exports.hash_style,
        relr: relocations::uses_relr(file),
        bind_now,
        relro: layout.relro(bind_now || kind == ImageKind::StaticExecutable),
        text_relocations: dynamic.has(elf::DT_TEXTREL)
            || dynamic.flag(elf::DT_FLAGS, elf::DF_TEXTREL.0),
        symbolic: dynamic.has(elf::DT_SYMBOLIC) || dynamic.flag(elf::DT_FLAGS, elf::DF_SYMBOLIC.0),
        static_tls: dynamic.flag(elf::DT_FLAGS, elf::DF_STATIC_TLS.0),
        initializers: functions.initializers,
        finalizers: functions.finalizers,
        version_needs: imports.version_needs,
        version_definitions: exports.version_definitions,
        interpreter: layout.interpreter,
        load_file_bytes: layout.load_file_bytes,
        load_memory_bytes: layout.load_memory_bytes,
        load_segments: layout.load_segments,
        code_bytes: layout.code_bytes,
        executable_stack: layout.executable_stack,
        has_symbol_table: layout.has_symbol_table,
        has_debug_info: layout.has_debug_info,
        problems: std::mem::replace(notes, Notes::new(0)).into_problems(),
    })
}
