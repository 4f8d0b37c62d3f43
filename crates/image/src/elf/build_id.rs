use super::read::{Budget, Elf, Notes};
use object::elf;
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, SectionHeader};

/// The GNU build-id in hexadecimal: from note segments, or from note sections where there are
/// none, as in object files.
pub(super) fn read<H: FileHeader>(file: &Elf<'_, H>, notes: &mut Notes) -> Option<String> {
    let endian = file.endian;
    let mut budget = Budget::of_file(file.bytes);
    let mut tables = Vec::new();
    for segment in file.segments.iter().filter(|s| s.p_type(endian) == elf::PT_NOTE) {
        let (offset, size) = (segment.p_offset(endian), segment.p_filesz(endian));
        let bytes = file.at_offset(offset.into(), size.into(), "PT_NOTE", notes);
        tables.push((bytes, segment.p_align(endian)));
    }
    if tables.is_empty() {
        for section in file.sections.iter().filter(|s| s.sh_type(endian) == elf::SHT_NOTE) {
            let bytes = file.section_bytes(section, "SHT_NOTE", notes);
            tables.push((bytes, section.sh_addralign(endian)));
        }
    }
    tables.retain(|(bytes, _)| budget.take(bytes, "notes", notes));
    tables.into_iter().find_map(|(bytes, align)| find::<H>(bytes, align, endian))
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
