//! The room in the headers of a file, in which bound imports are kept.

use image::pe::{Pe, spec};
use std::ops::Range;

/// What is behind the section table and in front of what follows: the first section's data, the
/// end of the headers, or a table of the data directory. As offsets, which are addresses here too.
pub(super) fn of(file: &Pe<'_>) -> Range<usize> {
    let headers = file.headers();
    let start = headers.section_offset(headers.sections.len()).index();
    let data = headers.sections.iter().filter(|section| section.file_bytes > 0);
    let first_data = data.map(|section| section.offset.index()).min();
    let first_section = headers.sections.iter().map(|section| section.rva.0 as usize).min();
    let directories = headers.directories.iter().enumerate();
    let tables = directories.filter(|(index, entry)| {
        !matches!(*index, spec::BOUND_IMPORT | spec::SECURITY) && !entry.is_empty()
    });
    // A table in front of the room that reaches into it takes all of it.
    let tables = tables
        .filter(|(_, entry)| (entry.rva.0 as usize).saturating_add(entry.size as usize) > start)
        .map(|(_, entry)| (entry.rva.0 as usize).max(start));
    let ends = [Some(headers.header_bytes as usize), first_data, first_section, tables.min()];
    let end = ends.into_iter().flatten().min().unwrap_or(0).min(file.bytes().len());
    start..end.max(start)
}
