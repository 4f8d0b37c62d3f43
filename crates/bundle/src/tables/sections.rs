//! Section headers: not for the loader, but for strip, debuggers and profilers.

use crate::choose::members;
use crate::plan::file_order::FileOrder;
use crate::plan::layout::Layout;
use crate::plan::member::Member;
use crate::tables::strings::Strings;
use image::elf::loadable::Section;
use image::elf::records::{ProgramHeader, SectionHeader};
use image::elf::spec;
use model::{BundleVa, FileOffset, ModuleId, Va};

/// The null section and one or two a part of each module: what is in the file, and what is not.
pub(crate) fn of_members(layout: &Layout<'_>, order: &FileOrder) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let (start, end) = (layout.headers_end(), layout.program().start());
    if start < end {
        // Without a section there, patchelf would put what is written to among the headers.
        let header = SectionHeader {
            kind: spec::SHT_PROGBITS,
            flags: spec::SHF_ALLOC,
            address: Va(start.0),
            offset: FileOffset(start - layout.low),
            size: end - start,
            alignment: 1,
            ..SectionHeader::default()
        };
        sections.push(Section { name: ".rodata.headers".to_owned(), header });
    }
    for member in &layout.members {
        let suffix = match member.id {
            ModuleId::PROGRAM => String::new(),
            _ => format!(".{}", members::name_of(member.module)),
        };
        for part in &member.parts {
            let offset = order.of_member(member, part.address);
            of_part(member, part, (offset, &suffix), &mut sections);
        }
    }
    sections
}

fn of_part(
    member: &Member<'_>,
    part: &ProgramHeader,
    (offset, suffix): (FileOffset, &str),
    sections: &mut Vec<Section>,
) {
    let (name, more) = if part.flags & spec::PF_X != 0 {
        (".text", spec::SHF_EXECINSTR)
    } else if part.flags & spec::PF_W != 0 {
        (".data", spec::SHF_WRITE)
    } else {
        (".rodata", 0)
    };
    let header = SectionHeader {
        kind: spec::SHT_PROGBITS,
        flags: spec::SHF_ALLOC | more,
        address: Va(member.moved(part.address).0),
        offset,
        size: part.file_size,
        alignment: 1,
        ..SectionHeader::default()
    };
    let has_rest = part.memory_size > part.file_size;
    if part.file_size > 0 || !has_rest {
        sections.push(Section { name: format!("{name}{suffix}"), header });
    }
    if has_rest {
        let header = SectionHeader {
            kind: spec::SHT_NOBITS,
            address: header.address + part.file_size,
            offset: header.offset + part.file_size,
            size: part.memory_size - part.file_size,
            ..header
        };
        sections.push(Section { name: format!(".bss{suffix}"), header });
    }
}

/// Number of the section that holds an address, or ends before it. `sections` by address, behind
/// the null section.
pub(crate) fn holding(sections: &[Section], address: BundleVa) -> u16 {
    let behind = sections.partition_point(|section| section.header.address.0 <= address.0);
    behind.saturating_sub(1).max(1) as u16
}

/// The table, with the names put into `names`.
pub(crate) fn table(sections: &[Section], names: &mut Strings) -> Vec<u8> {
    let bytes = sections.iter().flat_map(|section| {
        SectionHeader { name: names.add(section.name.as_bytes()), ..section.header }.bytes()
    });
    bytes.collect()
}
