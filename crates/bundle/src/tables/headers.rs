//! The file header, program headers and section headers (gABI, chapters 4 and 5).

use crate::plan::Plan;
use crate::plan::layout::{FILE_HEADER, PAGE, PROGRAM_HEADER, up};
use crate::tables::debug_symbols;
use crate::tables::moved;
use crate::tables::sections::{self, SECTION, Section};
use crate::tables::strings::Strings;
use crate::tables::symbols::SYMBOL;
use image::elf::spec;

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
            let addresses = moved::encode(
                &plan.relocations.moving,
                plan.layout.low,
                plan.own.reserved.preamble.at,
            );
            behind.push((moved::SECTION, spec::SHT_PROGBITS, addresses));
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

impl Header {
    /// What is in the file as it is in memory.
    fn plain(kind: u32, flags: u32, address: u64, offset: u64, size: u64, alignment: u64) -> Self {
        Header { kind, flags, offset, address, file_size: size, memory_size: size, alignment }
    }
}

const WRITABLE: u32 = spec::PF_R | spec::PF_W;

fn program_headers(plan: &Plan<'_>) -> Vec<Header> {
    let low = plan.layout.low;
    // Their sizes follow from their number, below.
    let mut all =
        vec![Header::plain(spec::PT_PHDR, spec::PF_R, low + FILE_HEADER, FILE_HEADER, 0, 8)];
    all.extend(table(plan, ".interp", spec::PT_INTERP, 1));
    all.push(Header::plain(spec::PT_LOAD, spec::PF_R, low, 0, FILE_HEADER, PAGE));
    all.extend(loaded(plan));
    all.extend(told(plan));
    let size = all.len() as u64 * PROGRAM_HEADER;
    let before = low..=low + FILE_HEADER;
    for header in all.iter_mut().filter(|header| before.contains(&header.address)) {
        header.file_size += size;
        header.memory_size += size;
    }
    // Mapped as a whole, for the section behind the headers.
    let room = plan.layout.first().saturating_sub(low);
    let of_headers = all.iter_mut().find(|header| header.kind == spec::PT_LOAD);
    if let Some(header) = of_headers.filter(|header| header.file_size < room) {
        (header.file_size, header.memory_size) = (room, room);
    }
    all
}

/// Something behind the modules.
fn behind(plan: &Plan<'_>, kind: u32, flags: u32, at: u64, size: u64, alignment: u64) -> Header {
    let offset = plan.layout.file_end + (at - plan.layout.end);
    Header::plain(kind, flags, at, offset, size, alignment)
}

/// A table, where there is one.
fn table(plan: &Plan<'_>, name: &str, kind: u32, alignment: u64) -> Option<Header> {
    let section = &plan.table(name)?.section;
    Some(behind(plan, kind, spec::PF_R, section.address, section.size, alignment))
}

/// The parts of the modules and the bundle's own, by address.
fn loaded(plan: &Plan<'_>) -> Vec<Header> {
    let load = spec::PT_LOAD;
    let own = &plan.own;
    let reserved = &own.reserved;
    let parts = plan.layout.members.iter().flat_map(|member| {
        member.parts.iter().map(|part| Header {
            offset: member.file_base.wrapping_add(part.address),
            address: member.moved(part.address),
            alignment: part.alignment.max(PAGE),
            kind: load,
            flags: part.flags,
            file_size: part.file_size,
            memory_size: part.memory_size,
        })
    });
    let mut all: Vec<Header> = parts.collect();
    let executable = spec::PF_R | spec::PF_X;
    all.push(behind(plan, load, executable, reserved.preamble.at, reserved.preamble.size, PAGE));
    let data = own.nodes.at + own.nodes.size - reserved.start;
    all.push(behind(plan, load, WRITABLE, reserved.start, data, PAGE));
    if let Some(last) = plan.tables.last() {
        let size = last.section.address + last.section.size - own.end;
        all.push(behind(plan, load, spec::PF_R, own.end, size, PAGE));
    }
    all
}

/// What tells where something is in what is loaded.
fn told(plan: &Plan<'_>) -> Vec<Header> {
    let own = &plan.own;
    let reserved = &own.reserved;
    let dynamic = 16 * (plan.dynamic.len() as u64 + 1);
    let mut all = vec![behind(plan, spec::PT_DYNAMIC, WRITABLE, own.dynamic.at, dynamic, 8)];
    let tls = &plan.layout.tls;
    if tls.size > 0 {
        let (kind, flags) = (spec::PT_TLS, spec::PF_R);
        all.push(behind(plan, kind, flags, reserved.template, tls.size, tls.alignment));
    }
    all.extend(table(plan, ".note.gnu.build-id", spec::PT_NOTE, 4));
    all.extend(table(plan, ".eh_frame_hdr", spec::PT_GNU_EH_FRAME, 4));
    all.push(Header::plain(spec::PT_GNU_STACK, stack(plan), 0, 0, 0, 16));
    let relro = own.relro_end() - reserved.start;
    all.push(behind(plan, spec::PT_GNU_RELRO, spec::PF_R, reserved.start, relro, 1));
    all
}

/// An executable stack where any module asks for one, or does not say.
fn stack(plan: &Plan<'_>) -> u32 {
    let asks = plan.layout.members.iter().any(|member| {
        let stack = member.image.segment(spec::PT_GNU_STACK);
        stack.is_none_or(|stack| stack.flags & spec::PF_X != 0)
    });
    if asks { WRITABLE | spec::PF_X } else { WRITABLE }
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
