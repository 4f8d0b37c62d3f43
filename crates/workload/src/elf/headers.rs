//! The file header, program headers and section headers (gABI, chapters 4 and 5).

use super::bytes::Bytes;
use super::image::{Image, Sizes};
use super::layout::{Layout, PAGE, Span};
use ::image::elf::records::{
    DynamicEntry, FileHeader, ProgramHeader, Rela, SectionHeader, SymbolEntry,
};
use ::image::elf::spec::*;
use model::{FileOffset, Va};

const READ_WRITE: u32 = PF_R | PF_W;
/// Bytes of an entry of the procedure linkage table.
pub(super) const PLT_ENTRY: u64 = 16;

/// A section header whose numbers of other sections are still names.
pub(super) struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    pub(super) span: Span,
    /// Name of the section that `sh_link` numbers.
    link: &'static str,
    info: Info,
    align: u64,
    entry_bytes: usize,
}

enum Info {
    Number(u32),
    Section(&'static str),
}

/// Size of all program headers.
pub(super) fn program_header_bytes(image: &Image) -> u64 {
    (segments(image, &Layout::default()).len() * ProgramHeader::SIZE) as u64
}

fn segments(image: &Image, at: &Layout) -> Vec<ProgramHeader> {
    let segment = |kind, flags, span: Span, alignment| ProgramHeader {
        kind,
        flags,
        offset: FileOffset(span.at),
        address: Va(span.at),
        physical: Va(span.at),
        file_size: span.size,
        memory_size: span.size,
        alignment,
    };
    let from = |start: u64, end: u64| Span { at: start, size: end - start };
    let (code, data) = (at.code_start(), at.data_start());
    let mut all = Vec::with_capacity(9);
    if image.program {
        all.push(segment(PT_PHDR, PF_R, at.program_headers, 8));
        all.push(segment(PT_INTERP, PF_R, at.interpreter, 1));
    }
    all.push(segment(PT_LOAD, PF_R, from(0, at.rodata.end()), PAGE));
    all.push(segment(PT_LOAD, PF_R | PF_X, from(code, at.text.end()), PAGE));
    all.push(segment(PT_LOAD, READ_WRITE, from(data, at.data_end()), PAGE));
    all.push(segment(PT_DYNAMIC, READ_WRITE, at.dynamic, 8));
    if !image.tls.is_empty() {
        all.push(segment(PT_TLS, PF_R, at.tls, 8));
    }
    all.push(segment(PT_GNU_STACK, READ_WRITE, Span::default(), 16));
    all.push(segment(PT_GNU_RELRO, PF_R, from(data, at.relro_end), 1));
    all
}

/// The sections that are there, without the null section before them and the names after them.
pub(super) fn sections(at: &Layout) -> Vec<Section> {
    let section = |name, kind, flags, span, align, entry_bytes| Section {
        name,
        kind,
        flags,
        span,
        link: "",
        info: Info::Number(0),
        align,
        entry_bytes,
    };
    let linked = |section: Section, link, info| Section { link, info, ..section };
    let none = || Info::Number(0);
    let (data, code) = (SHF_ALLOC | SHF_WRITE, SHF_ALLOC | SHF_EXECINSTR);
    let symbols = section(".dynsym", SHT_DYNSYM, SHF_ALLOC, at.dynsym, 8, SymbolEntry::SIZE);
    let relocations =
        |name, more: u64, span| section(name, SHT_RELA, SHF_ALLOC | more, span, 8, Rela::SIZE);
    let gnu_hash = section(".gnu.hash", SHT_GNU_HASH, SHF_ALLOC, at.gnu_hash, 8, 0);
    let dynamic = section(".dynamic", SHT_DYNAMIC, data, at.dynamic, 8, DynamicEntry::SIZE);
    let linkage = Info::Section(".got.plt");
    let mut all = vec![
        section(".interp", SHT_PROGBITS, SHF_ALLOC, at.interpreter, 1, 0),
        linked(gnu_hash, ".dynsym", none()),
        linked(section(".hash", SHT_HASH, SHF_ALLOC, at.hash, 8, 4), ".dynsym", none()),
        linked(symbols, ".dynstr", Info::Number(1)),
        section(".dynstr", SHT_STRTAB, SHF_ALLOC, at.dynstr, 1, 0),
        linked(relocations(".rela.dyn", 0, at.rela_dyn), ".dynsym", none()),
        linked(relocations(".rela.plt", SHF_INFO_LINK, at.rela_plt), ".dynsym", linkage),
        section(".rodata", SHT_PROGBITS, SHF_ALLOC, at.rodata, 16, 0),
        section(".plt", SHT_PROGBITS, code, at.plt, 16, PLT_ENTRY as usize),
        section(".text", SHT_PROGBITS, code, at.text, 16, 0),
        section(".tdata", SHT_PROGBITS, data | SHF_TLS, at.tls, 8, 0),
        section(".data.rel.ro", SHT_PROGBITS, data, at.constants, 16, 0),
        linked(dynamic, ".dynstr", none()),
        section(".got.plt", SHT_PROGBITS, data, at.got, 8, 8),
        section(".data", SHT_PROGBITS, data, at.data, 16, 0),
    ];
    all.retain(|section| section.span.size > 0);
    all
}

/// Where each section's name begins, and the names; the last is that of the names themselves.
pub(super) fn names(at: &Layout) -> (Vec<u32>, Vec<u8>) {
    let mut names = vec![0];
    let mut starts = Vec::new();
    for name in sections(at).iter().map(|section| section.name).chain([".shstrtab"]) {
        starts.push(names.len() as u32);
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    (starts, names)
}

pub(super) fn write(image: &Image, at: &Layout, sizes: &Sizes, out: &mut Bytes) {
    let segments = segments(image, at);
    let sections = sections(at);
    // The null section comes before them, and the names after them.
    let count = sections.len() as u16 + 2;
    let entry = if image.program { at.text.at + sizes.before_entry } else { 0 };
    let header = FileHeader {
        entry: Va(entry),
        programs_at: FileOffset(at.program_headers.at),
        sections_at: FileOffset(at.section_headers.at),
        program_count: segments.len() as u16,
        section_count: count,
        names: count - 1,
        ..FileHeader::x86_64(ET_DYN)
    };
    out.put(0, &header.bytes());
    for (index, segment) in segments.iter().enumerate() {
        out.entry(at.program_headers, index, &segment.bytes());
    }
    write_sections(&sections, at, out);
}

fn write_sections(sections: &[Section], at: &Layout, out: &mut Bytes) {
    let (starts, names) = names(at);
    out.put(at.section_names.at, &names);
    let number = |name: &str| {
        let at = sections.iter().position(|section| section.name == name);
        at.map_or(0, |at| at as u32 + 1)
    };
    let own = Section {
        name: ".shstrtab",
        kind: SHT_STRTAB,
        flags: 0,
        span: at.section_names,
        link: "",
        info: Info::Number(0),
        align: 1,
        entry_bytes: 0,
    };
    for (index, section) in sections.iter().chain([&own]).enumerate() {
        let Span { at: start, size } = section.span;
        let header = SectionHeader {
            name: starts[index],
            kind: section.kind,
            flags: section.flags,
            address: Va(if section.flags == 0 { 0 } else { start }),
            offset: FileOffset(start),
            size,
            link: number(section.link),
            info: match section.info {
                Info::Number(info) => info,
                Info::Section(name) => number(name),
            },
            alignment: section.align,
            entry_size: section.entry_bytes as u64,
        };
        out.entry(at.section_headers, index + 1, &header.bytes());
    }
}
