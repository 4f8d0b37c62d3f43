use super::offsets::SYMBOL;
use super::read::{Pe, Section};
use super::spec;
use crate::notes::Notes;
use model::PeSection;

/// The sections, in order.
pub(super) fn read(file: &Pe<'_>, notes: &mut Notes) -> Vec<PeSection> {
    let sections = file.headers().sections.iter();
    let read = sections.map(|section| PeSection {
        name: name(file, section, notes),
        rva: section.rva,
        memory_bytes: section.memory_bytes,
        offset: section.offset,
        file_bytes: section.file_bytes,
        access: access(section.flags),
    });
    read.collect()
}

fn access(flags: u32) -> String {
    let all = [
        (spec::IMAGE_SCN_MEM_READ, 'r'),
        (spec::IMAGE_SCN_MEM_WRITE, 'w'),
        (spec::IMAGE_SCN_MEM_EXECUTE, 'x'),
        (spec::IMAGE_SCN_MEM_SHARED, 's'),
    ];
    all.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, letter)| letter).collect()
}

/// `/N` is the string at offset N of the string table, which only linkers from GNU keep.
fn name(file: &Pe<'_>, section: &Section, notes: &mut Notes) -> String {
    let short = String::from_utf8_lossy(section.short_name()).into_owned();
    let offset = short.strip_prefix('/').and_then(|digits| digits.parse::<u64>().ok());
    let (table, count) = file.headers().symbols;
    let Some(offset) = offset.filter(|_| table != 0) else { return short };
    let strings = u64::from(table) + u64::from(count) * SYMBOL;
    let strings = usize::try_from(strings).ok().and_then(|start| file.bytes().get(start..));
    notes.name(strings.unwrap_or(&[]), offset, "name of a section").unwrap_or(short)
}
