//! Where the functions of an ELF image begin: what its symbols and its unwind table say.

use super::build_id;
use super::frames::frame_starts;
use super::read::Elf;
use crate::notes::{Budget, Notes, entries};
use crate::{CodePart, FunctionStarts, ImageError};
use model::{FileOffset, Format, Rva, Va};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, elf};
use std::ops::Range;

/// The smallest page that loaders map.
const PAGE_BYTES: u64 = 4096;

/// The starts of functions in the ELF file `bytes`; `path` is only its name in errors. The entry
/// point is one. The linkage table (`.plt`) has none.
pub(crate) fn starts(path: &str, bytes: &[u8]) -> Result<FunctionStarts, ImageError> {
    read_as_its_class!(read, path, bytes)
}

fn read<H: FileHeader<Endian = Endianness>>(
    path: &str,
    bytes: &[u8],
    endian: Endianness,
) -> Result<FunctionStarts, ImageError> {
    let notes = &mut Notes::new(bytes.len());
    let file = Elf::<H>::parse(path, bytes, endian, None, notes)?;
    let base = preferred_base(&file);
    let parts = code(&file);
    let mut addresses = symbols(&file, notes);
    let linkage = linkage(&file);
    let frames = frame_starts(&file).unwrap_or_default().into_iter();
    addresses.extend(frames.filter(|start| !linkage.iter().any(|range| range.contains(start))));
    let entry = Va(file.header.e_entry(endian).into());
    addresses.push(entry.0);
    // The table is in order, and so are most symbols: the stable sort finds such runs.
    addresses.sort();
    addresses.dedup();
    let mut found = FunctionStarts {
        format: Format::Elf,
        build_id: build_id::read(&file, notes),
        preferred_base: base,
        image_bytes: end(&file).since(base).unwrap_or(0),
        entry: entry.since(base).and_then(|rva| u32::try_from(rva).ok()).map_or(Rva(0), Rva),
        code: parts,
        ..FunctionStarts::default()
    };
    for address in addresses {
        found.add(bytes, Va(address));
    }
    Ok(found)
}

/// The page of the lowest address that is loaded.
pub(super) fn preferred_base<H: FileHeader>(file: &Elf<'_, H>) -> Va {
    let loaded = file.segments.iter().filter(|s| s.p_type(file.endian) == elf::PT_LOAD);
    let lowest = loaded.map(|s| s.p_vaddr(file.endian).into()).min();
    Va(lowest.unwrap_or(0) & !(PAGE_BYTES - 1))
}

/// The end of the highest address that is loaded.
fn end<H: FileHeader>(file: &Elf<'_, H>) -> Va {
    let loaded = file.segments.iter().filter(|s| s.p_type(file.endian) == elf::PT_LOAD);
    let end = |s: &H::ProgramHeader| -> u64 {
        let start: u64 = s.p_vaddr(file.endian).into();
        start.saturating_add(s.p_memsz(file.endian).into())
    };
    Va(loaded.map(end).max().unwrap_or(0))
}

/// The parts of the file that are mapped executable.
pub(super) fn code<H: FileHeader>(file: &Elf<'_, H>) -> Vec<CodePart> {
    let endian = file.endian;
    let is_code = |segment: &&H::ProgramHeader| {
        segment.p_type(endian) == elf::PT_LOAD && segment.p_flags(endian).contains(elf::PF_X)
    };
    let part = |segment: &H::ProgramHeader| CodePart {
        offset: FileOffset(segment.p_offset(endian).into()),
        address: Va(segment.p_vaddr(endian).into()),
        bytes: segment.p_filesz(endian).into(),
    };
    file.segments.iter().filter(is_code).map(part).collect()
}

/// Addresses of symbols of functions in sections of code.
fn symbols<H: FileHeader>(file: &Elf<'_, H>, notes: &mut Notes) -> Vec<u64> {
    let endian = file.endian;
    let is_code = |index: u16| {
        let section = file.sections.get(usize::from(index));
        section.is_some_and(|section| section.sh_flags(endian).contains(elf::SHF_EXECINSTR))
    };
    let mut budget = Budget::of_file(file.bytes);
    let mut found = Vec::new();
    for section in file.sections {
        if !matches!(section.sh_type(endian), elf::SHT_SYMTAB | elf::SHT_DYNSYM) {
            continue;
        }
        let table = file.section_bytes(section, "symbols", notes);
        if !budget.take(table, "symbols", notes) {
            break;
        }
        let functions = entries::<H::Sym>(table).iter().filter(|symbol| {
            matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC)
                && is_code(symbol.st_shndx(endian).0)
        });
        found.extend(functions.map(|symbol| -> u64 { symbol.st_value(endian).into() }));
    }
    found
}

/// Addresses of the linkage table, whose stubs are no functions.
fn linkage<H: FileHeader>(file: &Elf<'_, H>) -> Vec<Range<u64>> {
    let named = |section: &&H::SectionHeader| {
        file.section_name(section).is_some_and(|name| name.starts_with(b".plt"))
    };
    let range = |section: &H::SectionHeader| {
        let start: u64 = section.sh_addr(file.endian).into();
        start..start.saturating_add(section.sh_size(file.endian).into())
    };
    file.sections.iter().filter(named).map(range).collect()
}
