//! The build-id, which tells one build of a file from all others.

use super::read::Elf;
use crate::error::ImageError;
use crate::notes::{Budget, Notes};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, SectionHeader};
use object::{Endianness, elf};

/// [`read`] of a file in memory.
pub(crate) fn of_bytes(path: &str, bytes: &[u8]) -> Result<Option<String>, ImageError> {
    read_as_its_class!(parsed, path, bytes)
}

fn parsed<H: FileHeader<Endian = Endianness>>(
    path: &str,
    bytes: &[u8],
    endian: Endianness,
) -> Result<Option<String>, ImageError> {
    let notes = &mut Notes::new(bytes.len());
    Ok(read(&Elf::<H>::parse(path, bytes, endian, None, notes)?, notes))
}

/// The GNU build-id in hexadecimal: from note segments, or else from note sections (object files
/// have no segments, and Go's linker puts the build-id in none).
pub(crate) fn read<H: FileHeader>(file: &Elf<'_, H>, notes: &mut Notes) -> Option<String> {
    let endian = file.endian;
    let mut budget = Budget::of_file(file.bytes);
    for segment in file.segments.iter().filter(|s| s.p_type(endian) == elf::PT_NOTE) {
        let (offset, size) = (segment.p_offset(endian), segment.p_filesz(endian));
        let bytes = file.at_offset(offset.into(), size.into(), "PT_NOTE", notes);
        if !budget.take(bytes, "note segments", notes) {
            break;
        }
        if let Some(id) = find::<H>(bytes, segment.p_align(endian), endian) {
            return Some(id);
        }
    }
    let mut budget = Budget::of_file(file.bytes);
    for section in file.sections.iter().filter(|s| s.sh_type(endian) == elf::SHT_NOTE) {
        let bytes = file.section_bytes(section, "SHT_NOTE", notes);
        if !budget.take(bytes, "note sections", notes) {
            break;
        }
        if let Some(id) = find::<H>(bytes, section.sh_addralign(endian), endian) {
            return Some(id);
        }
    }
    None
}

fn find<H: FileHeader>(bytes: &[u8], align: H::Word, endian: H::Endian) -> Option<String> {
    let mut iterator = NoteIterator::<H>::new(endian, align, bytes).ok()?;
    while let Ok(Some(note)) = iterator.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
            return Some(note.desc().iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    None
}
