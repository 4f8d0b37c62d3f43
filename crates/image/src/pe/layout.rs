//! The sections of a PE file.

use super::headers::SectionHeader;
use super::offset_fields::SYMBOL;
use super::read::Pe;
use super::spec;
use crate::notes::Notes;
use model::PeSection;

/// The sections, in order.
pub(super) fn read(file: &Pe<'_>, notes: &mut Notes) -> Vec<PeSection> {
    missing_data(file, notes);
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

/// Says so where the file ends within its sections, as a download does that was cut off.
fn missing_data(file: &Pe<'_>, notes: &mut Notes) {
    let (end, length) = (file.headers().data_end().0, file.bytes().len() as u64);
    if end > length {
        notes.problem(format!(
            "the file is cut short: its sections go on to offset {end:#x}, but it has \
             {length:#x} bytes"
        ));
    }
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
fn name(file: &Pe<'_>, section: &SectionHeader, notes: &mut Notes) -> String {
    let short = String::from_utf8_lossy(section.short_name()).into_owned();
    let offset = short.strip_prefix('/').and_then(|digits| digits.parse::<u64>().ok());
    let (Some(offset), Some(symbols)) = (offset, file.headers().symbols) else { return short };
    let strings = symbols.offset + u64::from(symbols.count) * SYMBOL;
    let strings = file.bytes().get(strings.index()..);
    notes.name(strings.unwrap_or(&[]), offset, "name of a section").unwrap_or(short)
}
