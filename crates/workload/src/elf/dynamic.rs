//! The dynamic table (gABI, chapter 5; GNU extensions as glibc's elf.h names them).

use super::bytes::Bytes;
use super::image::{Image, Sizes};
use super::layout::Layout;
use super::symbols::Symbols;
use ::image::elf::records::{DynamicEntry, Rela, SymbolEntry};
use ::image::elf::spec::*;

/// Number of entries, the null entry included.
pub(super) fn count(image: &Image, symbols: &Symbols, sizes: &Sizes) -> u64 {
    entries(image, symbols, &Layout::default(), sizes.relatives).len() as u64
}

pub(super) fn write(image: &Image, symbols: &Symbols, at: &Layout, out: &mut Bytes) {
    let relatives = at.rela_dyn.size / Rela::SIZE as u64;
    for (index, &(tag, value)) in entries(image, symbols, at, relatives).iter().enumerate() {
        out.entry(at.dynamic, index, &DynamicEntry { tag, value }.bytes());
    }
}

fn entries(image: &Image, symbols: &Symbols, at: &Layout, relatives: u64) -> Vec<(u64, u64)> {
    let mut all: Vec<_> = symbols.needed.iter().map(|&name| (DT_NEEDED, name)).collect();
    if image.soname.is_some() {
        all.push((DT_SONAME, symbols.soname));
    }
    if image.runpath.is_some() {
        all.push((DT_RUNPATH, symbols.runpath));
    }
    all.extend([
        (DT_HASH, at.hash.at),
        (DT_GNU_HASH, at.gnu_hash.at),
        (DT_STRTAB, at.dynstr.at),
        (DT_SYMTAB, at.dynsym.at),
        (DT_STRSZ, symbols.strings.len() as u64),
        (DT_SYMENT, SymbolEntry::SIZE as u64),
    ]);
    if image.program {
        all.push((DT_DEBUG, 0));
    }
    if !image.imports.is_empty() {
        all.extend([
            (DT_PLTGOT, at.got.at),
            (DT_PLTRELSZ, at.rela_plt.size),
            (DT_PLTREL, DT_RELA),
            (DT_JMPREL, at.rela_plt.at),
        ]);
    }
    if relatives > 0 {
        all.extend([
            (DT_RELA, at.rela_dyn.at),
            (DT_RELASZ, at.rela_dyn.size),
            (DT_RELAENT, Rela::SIZE as u64),
            (DT_RELACOUNT, relatives),
        ]);
    }
    let (now, now_1) = if image.lazy { (0, 0) } else { (DF_BIND_NOW, DF_1_NOW) };
    let flags_1 = now_1 | if image.program { DF_1_PIE } else { 0 };
    let flags = [(DT_FLAGS, now), (DT_FLAGS_1, flags_1)];
    all.extend(flags.into_iter().filter(|&(_, flags)| flags != 0));
    all.push((DT_NULL, 0));
    all
}
