//! A whole image: what it is, and its parts written one after another.

use super::bytes::Bytes;
use super::layout::Layout;
use super::symbols::Symbols;
use super::{dynamic, hash, headers, plt};
use ::image::elf::records::{Rela, relocation_info};
use ::image::elf::spec::R_X86_64_RELATIVE;
use model::Va;

pub(super) const INTERPRETER: &[u8] = b"/lib64/ld-linux-x86-64.so.2\0";

/// What an image is, apart from its code and data.
#[derive(Default)]
pub(super) struct Image {
    /// A program rather than a library: it has an interpreter and an entry, the start of its code
    /// after [`Sizes::before_entry`].
    pub(super) program: bool,
    pub(super) soname: Option<String>,
    pub(super) needed: Vec<String>,
    pub(super) runpath: Option<String>,
    /// Functions taken from elsewhere, through a PLT entry each.
    pub(super) imports: Vec<String>,
    pub(super) exports: Vec<Export>,
    /// Initial thread-local storage.
    pub(super) tls: Vec<u8>,
    /// Bind imports at their first call.
    pub(super) lazy: bool,
}

/// A symbol for other images.
pub(super) struct Export {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) size: u64,
}

/// Where a symbol is, relative to its section.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Code(u64),
    Tls(u64),
}

/// Bytes of what a [`Body`] writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub(super) code: u64,
    /// Code that comes before a program's entry.
    pub(super) before_entry: u64,
    /// Read-only data without relocations.
    pub(super) rodata: u64,
    /// Data that is read-only once it is relocated.
    pub(super) constants: u64,
    pub(super) data: u64,
    /// Number of RELATIVE relocations.
    pub(super) relatives: u64,
}

/// Code, data and relocations of an image.
pub(super) trait Body {
    fn sizes(&self) -> Sizes;
    fn write(&self, at: &Layout, out: &mut Bytes);
}

impl Image {
    /// The finished image.
    pub(super) fn emit(&self, body: &dyn Body) -> Vec<u8> {
        let sizes = body.sizes();
        let symbols = Symbols::new(self);
        let layout = Layout::new(self, &sizes, &symbols);
        let mut out = Bytes(vec![0; layout.end as usize]);
        headers::write(self, &layout, &sizes, &mut out);
        if self.program {
            out.put(layout.interpreter.at, INTERPRETER);
        }
        symbols.write(self, &layout, &mut out);
        hash::write(&symbols, &layout, &mut out);
        dynamic::write(self, &symbols, &layout, &mut out);
        plt::write(self.imports.len() as u64, &layout, &mut out);
        out.put(layout.tls.at, &self.tls);
        body.write(&layout, &mut out);
        out.0
    }
}

/// Writes the RELATIVE relocation of that number: `slot` will hold the address of `target`.
pub(super) fn relative(number: u64, slot: u64, target: u64, at: &Layout, out: &mut Bytes) {
    let info = relocation_info(0, R_X86_64_RELATIVE);
    let relocation = Rela { offset: Va(slot), info, addend: target.cast_signed() };
    out.entry(at.rela_dyn, number as usize, &relocation.bytes());
}
