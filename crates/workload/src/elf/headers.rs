//! The file header, program headers and section headers (gABI, chapters 4 and 5).

use super::bytes::Bytes;
use super::image::{Image, Sizes};
use super::layout::{Layout, Span};

pub(super) const FILE_HEADER_BYTES: u64 = 64;
const PROGRAM_HEADER_BYTES: u64 = 56;
pub(super) const SECTION_HEADER_BYTES: u64 = 64;

const ET_DYN: u16 = 3;
const EM_X86_64: u16 = 62;

const READ: u32 = 4;
const READ_EXECUTE: u32 = 5;
const READ_WRITE: u32 = 6;

/// One program header; offset, address, and sizes in file and memory follow from the span.
struct Segment {
    kind: u32,
    flags: u32,
    span: Span,
    align: u64,
}

/// One section header.
pub(super) struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    pub(super) span: Span,
    /// Name of the section that `sh_link` numbers.
    link: &'static str,
    info: Info,
    align: u64,
    entry_bytes: u64,
}

enum Info {
    Number(u32),
    Section(&'static str),
}

/// Size of all program headers.
pub(super) fn program_header_bytes(image: &Image) -> u64 {
    segments(image, &Layout::default()).len() as u64 * PROGRAM_HEADER_BYTES
}

fn segments(image: &Image, at: &Layout) -> Vec<Segment> {
    let segment = |kind, flags, span, align| Segment { kind, flags, span, align };
    let from = |start: u64, end: u64| Span { at: start, size: end - start };
    let (code, data) = (at.code_start(), at.data_start());
    let mut all = Vec::with_capacity(9);
    if image.program {
        all.push(segment(6, READ, at.program_headers, 8)); // PT_PHDR
        all.push(segment(3, READ, at.interpreter, 1)); // PT_INTERP
    }
    all.push(segment(1, READ, from(0, at.rodata.end()), 4096)); // PT_LOAD
    all.push(segment(1, READ_EXECUTE, from(code, at.text.end()), 4096));
    all.push(segment(1, READ_WRITE, from(data, at.data_end()), 4096));
    all.push(segment(2, READ_WRITE, at.dynamic, 8)); // PT_DYNAMIC
    if !image.tls.is_empty() {
        all.push(segment(7, READ, at.tls, 8)); // PT_TLS
    }
    all.push(segment(0x6474_e551, READ_WRITE, Span::default(), 16)); // PT_GNU_STACK
    all.push(segment(0x6474_e552, READ, from(data, at.relro_end), 1)); // PT_GNU_RELRO
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
    let none = Info::Number(0);
    // Flags: write 1, alloc 2, execute 4, info link 0x40, TLS 0x400.
    let mut all = vec![
        section(".interp", 1, 2, at.interpreter, 1, 0),
        linked(section(".gnu.hash", 0x6fff_fff6, 2, at.gnu_hash, 8, 0), ".dynsym", none),
        linked(section(".hash", 5, 2, at.hash, 8, 4), ".dynsym", Info::Number(0)),
        linked(section(".dynsym", 11, 2, at.dynsym, 8, 24), ".dynstr", Info::Number(1)),
        section(".dynstr", 3, 2, at.dynstr, 1, 0),
        linked(section(".rela.dyn", 4, 2, at.rela_dyn, 8, 24), ".dynsym", Info::Number(0)),
        linked(
            section(".rela.plt", 4, 0x42, at.rela_plt, 8, 24),
            ".dynsym",
            Info::Section(".got.plt"),
        ),
        section(".rodata", 1, 2, at.rodata, 16, 0),
        section(".plt", 1, 6, at.plt, 16, 16),
        section(".text", 1, 6, at.text, 16, 0),
        section(".tdata", 1, 0x403, at.tls, 8, 0),
        section(".data.rel.ro", 1, 3, at.constants, 16, 0),
        linked(section(".dynamic", 6, 3, at.dynamic, 8, 16), ".dynstr", Info::Number(0)),
        section(".got.plt", 1, 3, at.got, 8, 8),
        section(".data", 1, 3, at.data, 16, 0),
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
    out.put(0, &[0x7f, b'E', b'L', b'F', 2, 1, 1]);
    out.u16(16, ET_DYN);
    out.u16(18, EM_X86_64);
    out.u32(20, 1);
    let entry = if image.program { at.text.at + sizes.before_entry } else { 0 };
    out.words(24, &[entry, FILE_HEADER_BYTES, at.section_headers.at]);
    let counts = [
        FILE_HEADER_BYTES as u16,
        PROGRAM_HEADER_BYTES as u16,
        segments.len() as u16,
        SECTION_HEADER_BYTES as u16,
        sections.len() as u16 + 2,
        sections.len() as u16 + 1,
    ];
    for (index, count) in counts.into_iter().enumerate() {
        out.u16(52 + 2 * index as u64, count);
    }
    for (index, segment) in segments.iter().enumerate() {
        let header = FILE_HEADER_BYTES + PROGRAM_HEADER_BYTES * index as u64;
        let Span { at, size } = segment.span;
        out.u32(header, segment.kind);
        out.u32(header + 4, segment.flags);
        out.words(header + 8, &[at, at, at, size, size, segment.align]);
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
        kind: 3,
        flags: 0,
        span: at.section_names,
        link: "",
        info: Info::Number(0),
        align: 1,
        entry_bytes: 0,
    };
    for (index, section) in sections.iter().chain([&own]).enumerate() {
        let header = at.section_headers.at + SECTION_HEADER_BYTES * (index as u64 + 1);
        let Span { at: start, size } = section.span;
        let address = if section.flags == 0 { 0 } else { start };
        out.u32(header, starts[index]);
        out.u32(header + 4, section.kind);
        out.words(header + 8, &[section.flags, address, start, size]);
        out.u32(header + 40, number(section.link));
        let info = match section.info {
            Info::Number(info) => info,
            Info::Section(name) => number(name),
        };
        out.u32(header + 44, info);
        out.words(header + 48, &[section.align, section.entry_bytes]);
    }
}
