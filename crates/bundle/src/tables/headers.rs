//! The file header, program headers and section headers (gABI, chapters 4 and 5), and what only
//! section headers lead to.

use crate::plan::Plan;
use crate::plan::file_order::FileOrder;
use crate::plan::layout::{LARGE_PAGE, PAGE, align_up};
use crate::plan::own_data::Extent;
use crate::plan::parts::continues;
use crate::tables::sections;
use crate::tables::strings::Strings;
use crate::tables::{Table, Tables, debug_symbols, gaps, joined, relative_words};
use image::elf::loadable::Section;
use image::elf::records::{FileHeader, ProgramHeader, SectionHeader, SymbolEntry};
use image::elf::spec;
use model::{BundleVa, FileOffset, Va};

/// What is written besides the contents.
pub(crate) struct Headers {
    pub(crate) pieces: Vec<(FileOffset, Vec<u8>)>,
    /// Size of the whole file.
    pub(crate) size: u64,
}

impl Headers {
    pub(crate) fn new(plan: &Plan<'_>, tables: &Tables) -> Headers {
        let mut sections = tables.sections.clone();
        let end = tables.order.end(&plan.layout);
        let mut behind = Behind { offset: aligned(end), pieces: Vec::new() };
        behind.add_symbols(plan, tables, &mut sections);
        let names_at = behind.offset;
        let header = SectionHeader {
            kind: spec::SHT_STRTAB,
            offset: names_at,
            alignment: 1,
            ..SectionHeader::default()
        };
        // Once for the names, whose size is then known.
        let mut names = Strings::new();
        sections.push(Section { name: ".shstrtab".to_owned(), header });
        sections::table(&sections, &mut names);
        let size = names.bytes.len() as u64;
        let last = sections.len() - 1;
        sections[last].header.size = size;
        let table = sections::table(&sections, &mut names);
        let sections_at = aligned(names_at + size);
        let size = (sections_at + table.len() as u64).0;
        let mut pieces = behind.pieces;
        pieces.push((names_at, names.bytes));
        pieces.push((sections_at, table));
        let programs = program_headers(plan, tables);
        let file = FileHeader {
            ident: plan.ident,
            entry: Va(plan.entry.0),
            programs_at: FileOffset(FileHeader::SIZE as u64),
            program_count: programs.len() as u16,
            sections_at,
            section_count: sections.len() as u16,
            names: last as u16,
            ..FileHeader::x86_64(if plan.spec.fixed { spec::ET_EXEC } else { spec::ET_DYN })
        };
        pieces.push((FileOffset::ZERO, file.bytes().to_vec()));
        let programs = programs.iter().flat_map(ProgramHeader::bytes).collect();
        pieces.push((file.programs_at, programs));
        Headers { pieces, size }
    }
}

fn aligned(offset: FileOffset) -> FileOffset {
    FileOffset(align_up(offset.0, 16))
}

/// What stands behind all that is loaded.
struct Behind {
    offset: FileOffset,
    pieces: Vec<(FileOffset, Vec<u8>)>,
}

impl Behind {
    /// Symbols for debuggers, and for a bundle at fixed addresses what a change of its base needs.
    fn add_symbols(&mut self, plan: &Plan<'_>, tables: &Tables, sections: &mut Vec<Section>) {
        let (symbols, names) = debug_symbols::table(plan, sections);
        let table = SectionHeader {
            kind: spec::SHT_SYMTAB,
            alignment: 8,
            entry_size: SymbolEntry::SIZE as u64,
            link: sections.len() as u32 + 1,
            info: (symbols.len() / SymbolEntry::SIZE) as u32,
            ..SectionHeader::default()
        };
        self.add(".symtab", table, symbols, sections);
        let kind = spec::SHT_STRTAB;
        let strings = SectionHeader { kind, alignment: 1, ..SectionHeader::default() };
        self.add(".strtab", strings, names, sections);
        if plan.spec.fixed {
            let preamble = plan.own.reserved.preamble.start;
            let relative = &tables.relocations.relative;
            let words = relative_words::encode(relative, plan.layout.low, preamble);
            let kind = spec::SHT_PROGBITS;
            let header = SectionHeader { kind, alignment: 8, ..SectionHeader::default() };
            self.add(relative_words::SECTION, header, words, sections);
        }
    }

    fn add(
        &mut self,
        name: &str,
        header: SectionHeader,
        bytes: Vec<u8>,
        sections: &mut Vec<Section>,
    ) {
        let size = bytes.len() as u64;
        let header = SectionHeader { offset: self.offset, size, ..header };
        sections.push(Section { name: name.to_owned(), header });
        self.pieces.push((self.offset, bytes));
        self.offset = aligned(self.offset + size);
    }
}

/// What is in the file as it is in memory.
fn plain(
    kind: u32,
    flags: u32,
    memory: Extent,
    offset: FileOffset,
    alignment: u64,
) -> ProgramHeader {
    let address = Va(memory.start.0);
    let size = memory.size;
    ProgramHeader {
        kind,
        flags,
        offset,
        address,
        physical: address,
        file_size: size,
        memory_size: size,
        alignment,
    }
}

const WRITABLE: u32 = spec::PF_R | spec::PF_W;

fn program_headers(plan: &Plan<'_>, tables: &Tables) -> Vec<ProgramHeader> {
    let low = plan.layout.low;
    let own = Own { plan, order: &tables.order };
    let table_at = FileHeader::SIZE as u64;
    let table = Extent { start: low + table_at, size: 0 };
    let mut all = vec![plain(spec::PT_PHDR, spec::PF_R, table, FileOffset(table_at), 8)];
    all.extend(tables.find_table(".interp").map(|name| own.table(name, spec::PT_INTERP, 1)));
    all.extend(mapped(&own, tables));
    all.extend(told(&own, tables));
    let size = (all.len() * ProgramHeader::SIZE) as u64;
    (all[0].file_size, all[0].memory_size) = (size, size);
    all
}

/// All that is loaded, in as few parts as it takes.
fn mapped(own: &Own<'_>, tables: &Tables) -> Vec<ProgramHeader> {
    let layout = &own.plan.layout;
    // Mapped as a whole, for the section behind the headers.
    let room = layout.program().start().since(layout.low).unwrap_or(0);
    let headers = Extent { start: layout.low, size: room };
    // The kernel places a bundle that moves so that addresses and places in the file are the same modulo a large
    // page, and chooses among so many fewer addresses.
    let unit = if own.plan.spec.fixed || !layout.has_large_pages() { PAGE } else { LARGE_PAGE };
    let mut all = vec![plain(spec::PT_LOAD, spec::PF_R, headers, FileOffset::ZERO, unit)];
    all.extend(loaded(own, tables));
    gaps::fill(&mut all);
    all.dedup_by(|next, part| {
        let distance = |it: &ProgramHeader| it.offset.0.wrapping_sub(it.address.0);
        let continues = continues(part, next) && distance(part) == distance(next);
        if continues {
            part.file_size = next.address + next.file_size - part.address;
            part.memory_size = next.end() - part.address;
            part.alignment = part.alignment.max(next.alignment);
        }
        continues
    });
    if own.plan.spec.join {
        joined::join(&mut all);
    }
    all
}

/// Something of the bundle's own.
struct Own<'a> {
    plan: &'a Plan<'a>,
    order: &'a FileOrder,
}

impl Own<'_> {
    fn part(&self, kind: u32, flags: u32, memory: Extent, alignment: u64) -> ProgramHeader {
        plain(kind, flags, memory, self.order.of_own(self.plan, memory.start), alignment)
    }

    fn table(&self, table: &Table, kind: u32, alignment: u64) -> ProgramHeader {
        let memory = Extent { start: table.address(), size: table.section.header.size };
        self.part(kind, spec::PF_R, memory, alignment)
    }
}

/// The parts of the modules and the bundle's own, by address.
fn loaded(own: &Own<'_>, tables: &Tables) -> Vec<ProgramHeader> {
    let load = spec::PT_LOAD;
    let Own { plan, order } = own;
    let data = &plan.own;
    let parts = plan.layout.members.iter().flat_map(|member| {
        member.parts.iter().map(|part| {
            let memory = Extent { start: member.moved(part.address), size: part.memory_size };
            let offset = order.of_member(member, part.address);
            let alignment = part.alignment.max(PAGE);
            let header = plain(load, part.flags, memory, offset, alignment);
            ProgramHeader { file_size: part.file_size, ..header }
        })
    });
    let mut all: Vec<ProgramHeader> = parts.collect();
    let executable = spec::PF_R | spec::PF_X;
    all.push(own.part(load, executable, data.reserved.preamble, PAGE));
    all.push(own.part(load, WRITABLE, data.extent(), PAGE));
    let behind_data = Extent { start: data.end, size: tables.end() - data.end };
    all.push(own.part(load, spec::PF_R, behind_data, PAGE));
    all
}

/// What tells where something is in what is loaded.
fn told(own: &Own<'_>, tables: &Tables) -> Vec<ProgramHeader> {
    let plan = own.plan;
    let data = &plan.own;
    let mut all = vec![own.part(spec::PT_DYNAMIC, WRITABLE, tables.dynamic_extent(plan), 8)];
    let tls = &plan.layout.tls;
    if tls.size > 0 {
        let block = Extent { start: data.reserved.template, size: tls.size };
        all.push(own.part(spec::PT_TLS, spec::PF_R, block, tls.alignment));
    }
    all.push(own.table(tables.table(super::BUILD_ID), spec::PT_NOTE, 4));
    let unwind = tables.find_table(".eh_frame_hdr");
    all.extend(unwind.map(|table| own.table(table, spec::PT_GNU_EH_FRAME, 4)));
    let nothing = Extent { start: BundleVa::ZERO, size: 0 };
    all.push(plain(spec::PT_GNU_STACK, stack(plan), nothing, FileOffset::ZERO, 16));
    all.push(own.part(spec::PT_GNU_RELRO, spec::PF_R, data.relro(), 1));
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
