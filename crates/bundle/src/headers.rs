//! The file header, program headers and section headers (gABI, chapters 4 and 5).

use crate::debug_symbols;
use crate::layout::{FILE_HEADER, PAGE, PROGRAM_HEADER, up};
use crate::moving;
use crate::plan::Plan;
use crate::sections::{self, SECTION, Section};
use crate::strings::Strings;
use crate::symbols::SYMBOL;
use image::spec;

/// A program header.
#[derive(Clone, Copy, Debug)]
struct Header {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
    alignment: u64,
}

/// What is written besides the contents.
pub(crate) struct Headers {
    /// Offsets and bytes.
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
    /// Size of the whole file.
    pub(crate) size: u64,
}

impl Headers {
    /// `end`: where the contents end in the file.
    pub(crate) fn new(plan: &Plan<'_>, end: u64) -> Headers {
        let mut sections = plan.sections.clone();
        let (symbols, symbol_names) = debug_symbols::table(&plan.layout, &sections);
        let mut names = Strings::new();
        let mut offset = up(end, 16);
        let mut pieces = Vec::new();
        let count = (symbols.len() / SYMBOL) as u32;
        let strings = sections.len() as u32 + 1;
        let mut behind = vec![
            (".symtab", spec::SHT_SYMTAB, symbols),
            (".strtab", spec::SHT_STRTAB, symbol_names),
        ];
        if plan.fixed {
            let addresses = moving::encode(&plan.relocations.moving, plan.layout.low);
            behind.push((moving::SECTION, spec::SHT_PROGBITS, addresses));
        }
        for (name, kind, bytes) in behind {
            let symbols = kind == spec::SHT_SYMTAB;
            let size = bytes.len() as u64;
            sections.push(Section {
                name: name.to_owned(),
                kind,
                offset,
                size,
                alignment: if kind == spec::SHT_STRTAB { 1 } else { 8 },
                entry: if symbols { SYMBOL as u64 } else { 0 },
                link: if symbols { strings } else { 0 },
                info: if symbols { count } else { 0 },
                ..Section::default()
            });
            pieces.push((offset, bytes));
            offset = up(offset + size, 16);
        }
        let own = Section {
            name: ".shstrtab".to_owned(),
            kind: spec::SHT_STRTAB,
            offset,
            alignment: 1,
            ..Section::default()
        };
        sections.push(own);
        // Once for the names, whose size is then known.
        sections::table(&sections, &mut names);
        if let Some(own) = sections.last_mut() {
            own.size = names.bytes.len() as u64;
        }
        let table = sections::table(&sections, &mut names);
        let names_size = names.bytes.len() as u64;
        pieces.push((offset, names.bytes));
        let section_headers = up(offset + names_size, 16);
        pieces.push((section_headers, table));
        let headers = program_headers(plan);
        pieces.push((0, file_header(plan, headers.len(), section_headers, sections.len())));
        pieces.push((FILE_HEADER, encode(&headers)));
        Headers { pieces, size: section_headers + (SECTION * sections.len()) as u64 }
    }
}

fn file_header(plan: &Plan<'_>, headers: usize, section_headers: u64, sections: usize) -> Vec<u8> {
    let program = plan.layout.members.first();
    let entry = plan.entry;
    let ident = program.and_then(|member| member.image.bytes().get(..16)).unwrap_or(&[]);
    let mut bytes = ident.to_vec();
    let kind = if plan.fixed { spec::ET_EXEC } else { spec::ET_DYN };
    bytes.extend([kind, spec::EM_X86_64].iter().flat_map(|half| half.to_le_bytes()));
    bytes.extend(1_u32.to_le_bytes());
    let words = [entry, FILE_HEADER, section_headers];
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend(0_u32.to_le_bytes());
    let halves = [
        FILE_HEADER as u16,
        PROGRAM_HEADER as u16,
        headers as u16,
        SECTION as u16,
        sections as u16,
        sections as u16 - 1,
    ];
    bytes.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    bytes
}

fn program_headers(plan: &Plan<'_>) -> Vec<Header> {
    let layout = &plan.layout;
    let own = &plan.own;
    let offset = |address: u64| layout.file_end + (address - layout.end);
    let plain = |kind, flags, at: u64, offset: u64, size: u64, alignment| Header {
        kind,
        flags,
        offset,
        address: at,
        file_size: size,
        memory_size: size,
        alignment,
    };
    let behind =
        |kind, flags, at, size, alignment| plain(kind, flags, at, offset(at), size, alignment);
    let table =
        |name: &str| plan.table(name).map(|table| (table.section.address, table.section.size));
    let (writable, executable) = (spec::PF_R | spec::PF_W, spec::PF_R | spec::PF_X);
    let load = spec::PT_LOAD;
    // Their sizes follow from their number, below.
    let mut all =
        vec![plain(spec::PT_PHDR, spec::PF_R, layout.low + FILE_HEADER, FILE_HEADER, 0, 8)];
    all.extend(table(".interp").map(|(at, size)| behind(spec::PT_INTERP, spec::PF_R, at, size, 1)));
    all.push(plain(load, spec::PF_R, layout.low, 0, FILE_HEADER, PAGE));
    for member in &layout.members {
        all.extend(member.parts.iter().map(|part| Header {
            offset: member.file_base.wrapping_add(part.address),
            address: member.moved(part.address),
            alignment: part.alignment.max(PAGE),
            kind: load,
            flags: part.flags,
            file_size: part.file_size,
            memory_size: part.memory_size,
        }));
    }
    let begun = &own.begun;
    all.push(behind(load, executable, begun.guard, begun.guard_size, PAGE));
    let data = own.nodes.at + own.nodes.size - begun.start;
    all.push(behind(load, writable, begun.start, data, PAGE));
    if let (Some(first), Some(last)) = (plan.tables.first(), plan.tables.last()) {
        // The tables begin on a page of their own.
        debug_assert_eq!(first.section.address, own.end);
        let size = last.section.address + last.section.size - own.end;
        all.push(behind(load, spec::PF_R, own.end, size, PAGE));
    }
    let dynamic = 16 * (plan.dynamic.len() as u64 + 1);
    all.push(behind(spec::PT_DYNAMIC, writable, own.dynamic.at, dynamic, 8));
    let tls = &layout.tls;
    if tls.size > 0 {
        all.push(behind(spec::PT_TLS, spec::PF_R, begun.template, tls.size, tls.alignment));
    }
    let note = table(".note.gnu.build-id");
    all.extend(note.map(|(at, size)| behind(spec::PT_NOTE, spec::PF_R, at, size, 4)));
    let unwind = table(".eh_frame_hdr");
    all.extend(unwind.map(|(at, size)| behind(spec::PT_GNU_EH_FRAME, spec::PF_R, at, size, 4)));
    all.push(plain(spec::PT_GNU_STACK, stack(plan), 0, 0, 0, 16));
    let relro = own.relro_end() - begun.start;
    all.push(behind(spec::PT_GNU_RELRO, spec::PF_R, begun.start, relro, 1));
    let size = all.len() as u64 * PROGRAM_HEADER;
    let before = layout.low..=layout.low + FILE_HEADER;
    for header in all.iter_mut().filter(|header| before.contains(&header.address)) {
        header.file_size += size;
        header.memory_size += size;
    }
    all
}

/// An executable stack where any module asks for one, or does not say.
fn stack(plan: &Plan<'_>) -> u32 {
    let writable = spec::PF_R | spec::PF_W;
    let asks = plan.layout.members.iter().any(|member| {
        let stack = member.image.segment(spec::PT_GNU_STACK);
        stack.is_none_or(|stack| stack.flags & spec::PF_X != 0)
    });
    if asks { writable | spec::PF_X } else { writable }
}

fn encode(headers: &[Header]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(headers.len() * PROGRAM_HEADER as usize);
    for header in headers {
        bytes.extend([header.kind, header.flags].iter().flat_map(|word| word.to_le_bytes()));
        let words = [
            header.offset,
            header.address,
            header.address,
            header.file_size,
            header.memory_size,
            header.alignment,
        ];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    bytes
}
