//! Section headers: not for the loader, but for strip, debuggers and profilers.

use crate::plan::layout::{Layout, Member};
use crate::tables::strings::Strings;
use image::elf::loadable::Segment;
use image::elf::spec;
use loader::Graph;

/// Bytes of a section header.
pub(crate) const SECTION: usize = 64;

/// A section header, its name not yet in a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) kind: u32,
    pub(crate) flags: u64,
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) link: u32,
    pub(crate) info: u32,
    pub(crate) alignment: u64,
    pub(crate) entry: u64,
}

/// The null section and one or two a part of each module: what is in the file, and what is not.
pub(crate) fn of_members(graph: &Graph, layout: &Layout<'_>) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let (start, end) = (layout.headers_end(), layout.first());
    if start < end {
        // Without a section there, patchelf would put what is written to among the headers.
        sections.push(Section {
            name: ".rodata.headers".to_owned(),
            kind: spec::SHT_PROGBITS,
            flags: spec::SHF_ALLOC,
            address: start,
            offset: start - layout.low,
            size: end - start,
            alignment: 1,
            ..Section::default()
        });
    }
    for member in &layout.members {
        let suffix = match graph.modules.get(member.module) {
            Some(module) if member.module > 0 => {
                format!(".{}", crate::choose::members::name_of(module))
            }
            _ => String::new(),
        };
        for part in &member.parts {
            of_part(member, part, &suffix, &mut sections);
        }
    }
    sections
}

fn of_part(member: &Member<'_>, part: &Segment, suffix: &str, sections: &mut Vec<Section>) {
    let (name, more) = if part.flags & spec::PF_X != 0 {
        (".text", spec::SHF_EXECINSTR)
    } else if part.flags & spec::PF_W != 0 {
        (".data", spec::SHF_WRITE)
    } else {
        (".rodata", 0)
    };
    let section = Section {
        name: format!("{name}{suffix}"),
        kind: spec::SHT_PROGBITS,
        flags: spec::SHF_ALLOC | more,
        address: member.moved(part.address),
        offset: member.file_base.wrapping_add(part.address),
        size: part.file_size,
        alignment: 1,
        ..Section::default()
    };
    if part.memory_size > part.file_size {
        let rest = Section {
            name: format!(".bss{suffix}"),
            kind: spec::SHT_NOBITS,
            address: section.address + part.file_size,
            offset: section.offset + part.file_size,
            size: part.memory_size - part.file_size,
            ..section.clone()
        };
        if part.file_size > 0 {
            sections.push(section);
        }
        sections.push(rest);
    } else {
        sections.push(section);
    }
}

/// Number of the section that holds an address, or ends before it. `sections` by address, behind
/// the null section.
pub(crate) fn holding(sections: &[Section], address: u64) -> u16 {
    let behind = sections.partition_point(|section| section.address <= address);
    behind.saturating_sub(1).max(1) as u16
}

/// The table, with the names put into `names`.
pub(crate) fn table(sections: &[Section], names: &mut Strings) -> Vec<u8> {
    let mut table = Vec::with_capacity(sections.len() * SECTION);
    for section in sections {
        table.extend_from_slice(&names.add(section.name.as_bytes()).to_le_bytes());
        table.extend_from_slice(&section.kind.to_le_bytes());
        for word in [section.flags, section.address, section.offset, section.size] {
            table.extend_from_slice(&word.to_le_bytes());
        }
        table.extend_from_slice(&section.link.to_le_bytes());
        table.extend_from_slice(&section.info.to_le_bytes());
        for word in [section.alignment, section.entry] {
            table.extend_from_slice(&word.to_le_bytes());
        }
    }
    table
}
