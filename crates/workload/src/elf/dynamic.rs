//! The dynamic table (gABI, chapter 5; GNU extensions as glibc's elf.h names them).

use super::bytes::Bytes;
use super::image::{Image, Sizes};
use super::layout::Layout;
use super::symbols::Symbols;

const DF_BIND_NOW: u64 = 8;
const DF_1_NOW: u64 = 1;
const DF_1_PIE: u64 = 0x0800_0000;

/// Number of entries, the null entry included.
pub(super) fn count(image: &Image, symbols: &Symbols, sizes: &Sizes) -> u64 {
    entries(image, symbols, &Layout::default(), sizes.relatives).len() as u64
}

pub(super) fn write(image: &Image, symbols: &Symbols, at: &Layout, out: &mut Bytes) {
    let relatives = at.rela_dyn.size / 24;
    for (index, entry) in entries(image, symbols, at, relatives).iter().enumerate() {
        out.words(at.dynamic.at + 16 * index as u64, entry);
    }
}

fn entries(image: &Image, symbols: &Symbols, at: &Layout, relatives: u64) -> Vec<[u64; 2]> {
    let mut all: Vec<[u64; 2]> = symbols.needed.iter().map(|&name| [1, name]).collect(); // DT_NEEDED
    if image.soname.is_some() {
        all.push([14, symbols.soname]); // DT_SONAME
    }
    if image.runpath.is_some() {
        all.push([29, symbols.runpath]); // DT_RUNPATH
    }
    all.extend([
        [4, at.hash.at],                    // DT_HASH
        [0x6fff_fef5, at.gnu_hash.at],      // DT_GNU_HASH
        [5, at.dynstr.at],                  // DT_STRTAB
        [6, at.dynsym.at],                  // DT_SYMTAB
        [10, symbols.strings.len() as u64], // DT_STRSZ
        [11, 24],                           // DT_SYMENT
    ]);
    if image.program {
        all.push([21, 0]); // DT_DEBUG
    }
    if !image.imports.is_empty() {
        all.extend([
            [3, at.got.at],        // DT_PLTGOT
            [2, at.rela_plt.size], // DT_PLTRELSZ
            [20, 7],               // DT_PLTREL: DT_RELA
            [23, at.rela_plt.at],  // DT_JMPREL
        ]);
    }
    if relatives > 0 {
        all.extend([
            [7, at.rela_dyn.at],      // DT_RELA
            [8, at.rela_dyn.size],    // DT_RELASZ
            [9, 24],                  // DT_RELAENT
            [0x6fff_fff9, relatives], // DT_RELACOUNT
        ]);
    }
    let (now, now_1) = if image.lazy { (0, 0) } else { (DF_BIND_NOW, DF_1_NOW) };
    let flags_1 = now_1 | if image.program { DF_1_PIE } else { 0 };
    let flags = [[30, now], [0x6fff_fffb, flags_1]]; // DT_FLAGS, DT_FLAGS_1
    all.extend(flags.into_iter().filter(|[_, flags]| *flags != 0));
    all.push([0, 0]); // DT_NULL
    all
}
