//! Where each part of an image is.

use super::dynamic;
use super::hash;
use super::headers;
use super::image::{INTERPRETER, Image, Sizes};
use super::symbols::Symbols;
use ::image::elf::records::{DynamicEntry, FileHeader, Rela, SectionHeader, SymbolEntry};

/// Bytes of a page.
pub(super) const PAGE: u64 = 4096;

/// A part of the image: its address, which is its offset in the file too, and its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) at: u64,
    pub(super) size: u64,
}

impl Span {
    pub(super) fn end(self) -> u64 {
        self.at + self.size
    }
}

/// Where everything is. Three segments: read-only, code, and data; the first part of the data is
/// read-only once it is relocated.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) program_headers: Span,
    pub(super) interpreter: Span,
    pub(super) gnu_hash: Span,
    pub(super) hash: Span,
    pub(super) dynsym: Span,
    pub(super) dynstr: Span,
    pub(super) rela_dyn: Span,
    pub(super) rela_plt: Span,
    pub(super) rodata: Span,
    pub(super) plt: Span,
    pub(super) text: Span,
    pub(super) tls: Span,
    pub(super) constants: Span,
    pub(super) dynamic: Span,
    pub(super) got: Span,
    pub(super) data: Span,
    /// End of what is read-only after relocation, at a page's end.
    pub(super) relro_end: u64,
    pub(super) section_names: Span,
    pub(super) section_headers: Span,
    /// Size of the file.
    pub(super) end: u64,
}

/// Places one part after another.
struct Placer(u64);

impl Placer {
    fn place(&mut self, size: u64, align: u64) -> Span {
        // What is not there must not move the rest.
        if size > 0 {
            self.0 = self.0.next_multiple_of(align);
        }
        let span = Span { at: self.0, size };
        self.0 += size;
        span
    }

    fn next_page(&mut self) {
        self.0 = self.0.next_multiple_of(PAGE);
    }
}

impl Layout {
    pub(super) fn new(image: &Image, sizes: &Sizes, symbols: &Symbols) -> Layout {
        let imports = image.imports.len() as u64;
        let optional = |there: bool, size: u64| if there { size } else { 0 };
        let table = |entries: u64, size: usize| entries * size as u64;
        let mut layout = Layout::default();
        let mut next = Placer(FileHeader::SIZE as u64);
        layout.program_headers = next.place(headers::program_header_bytes(image), 8);
        layout.interpreter = next.place(optional(image.program, INTERPRETER.len() as u64), 1);
        layout.gnu_hash = next.place(hash::gnu_bytes(symbols), 8);
        layout.hash = next.place(hash::sysv_bytes(symbols), 8);
        layout.dynsym = next.place(table(symbols.count(), SymbolEntry::SIZE), 8);
        layout.dynstr = next.place(symbols.strings.len() as u64, 1);
        layout.rela_dyn = next.place(table(sizes.relatives, Rela::SIZE), 8);
        layout.rela_plt = next.place(table(imports, Rela::SIZE), 8);
        layout.rodata = next.place(sizes.rodata, 16);
        next.next_page();
        layout.plt = next.place(optional(imports > 0, headers::PLT_ENTRY * (1 + imports)), 16);
        layout.text = next.place(sizes.code, 16);
        next.next_page();
        layout.tls = next.place(image.tls.len() as u64, 8);
        layout.constants = next.place(sizes.constants, 16);
        let entries = dynamic::count(image, symbols, sizes);
        layout.dynamic = next.place(table(entries, DynamicEntry::SIZE), 8);
        let got = optional(imports > 0, 8 * (3 + imports));
        if image.lazy {
            next.next_page();
            layout.relro_end = next.0;
            layout.got = next.place(got, 8);
        } else {
            layout.got = next.place(got, 8);
            next.next_page();
            layout.relro_end = next.0;
        }
        layout.data = next.place(sizes.data, 16);
        layout.section_names = next.place(headers::names(&layout).1.len() as u64, 1);
        let sections = headers::sections(&layout).len() as u64 + 2;
        layout.section_headers = next.place(table(sections, SectionHeader::SIZE), 8);
        layout.end = next.0;
        layout
    }

    /// The end of the data segment.
    pub(super) fn data_end(&self) -> u64 {
        self.relro_end.max(self.got.end()).max(self.data.end())
    }

    /// The beginning of the data segment.
    pub(super) fn data_start(&self) -> u64 {
        self.text.end().next_multiple_of(PAGE)
    }

    /// The beginning of the code segment.
    pub(super) fn code_start(&self) -> u64 {
        self.rodata.end().next_multiple_of(PAGE)
    }

    /// Number of the section that is at `span`.
    pub(super) fn index(&self, span: Span) -> u16 {
        let sections = headers::sections(self);
        let at = sections.iter().position(|section| section.span == span);
        at.map_or(0, |at| at as u16 + 1)
    }
}
