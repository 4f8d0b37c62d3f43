//! The loops over relocation entries: a large program has a million, so each costs a nanosecond.

use super::pages::Pages;
use super::read::Elf;
use super::scan::Scan;
use crate::notes::entries;
use object::elf;
use object::endian::Endian;
use object::read::elf::{FileHeader, Rel, Rela, Relr};
use std::collections::BTreeMap;

/// Types below this are counted in an array; every type that a linker writes is.
const SMALL_TYPES: usize = 2048;
/// Distinct larger types kept apart; only damaged files have any.
const MAX_LARGE_TYPES: usize = 4096;

/// How the machine packs type and symbol into r_info.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    symbol_shift: u32,
    type_mask: u64,
    mips64el: bool,
    big_endian: bool,
}

/// Relocations of one type.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) all: u64,
    pub(super) with_symbol: u64,
}

/// Relocations by type, and the pages they write to.
pub(super) struct Counts {
    layout: Layout,
    small: Vec<Count>,
    large: BTreeMap<u32, Count>,
    pub(super) relr: u64,
    pub(super) pages: Pages,
    pub(super) symbols_at_least: u64,
}

impl Layout {
    pub(super) fn of<H: FileHeader>(file: &Elf<'_, H>) -> Self {
        let machine = file.header.e_machine(file.endian);
        let mips64el = file.header.is_mips64el(file.endian);
        let big_endian = file.header.is_big_endian();
        if !H::is_type_64_sized() {
            return Layout { symbol_shift: 8, type_mask: 0xff, mips64el, big_endian };
        }
        // MIPS packs three types into the word, of which the first says what the entry is;
        // SPARC V9 keeps data of its own above the type.
        let one_byte = matches!(machine, elf::EM_MIPS | elf::EM_SPARCV9);
        let type_mask = if one_byte { 0xff } else { 0xffff_ffff };
        Layout { symbol_shift: 32, type_mask, mips64el, big_endian }
    }

    /// r_info of an entry without addend: `object` reorders it only in those with one.
    fn rel_info(self, info: u64) -> u64 {
        // Little-endian MIPS writes the symbol first, then its four single bytes.
        if self.mips64el {
            info << 32 | u64::from(((info >> 32) as u32).swap_bytes())
        } else {
            info
        }
    }

    fn endian<H: FileHeader>(self) -> H::Endian {
        H::Endian::from_big_endian(self.big_endian).unwrap_or_default()
    }
}

impl Counts {
    pub(super) fn new(layout: Layout) -> Self {
        Counts {
            layout,
            small: vec![Count::default(); SMALL_TYPES],
            large: BTreeMap::new(),
            relr: 0,
            pages: Pages::default(),
            symbols_at_least: 0,
        }
    }

    /// The same settings, nothing counted.
    pub(super) fn empty(&self) -> Self {
        Counts::new(self.layout)
    }

    pub(super) fn add_rela<H: FileHeader>(&mut self, table: Scan<'_>) {
        let layout = self.layout;
        table.run(self, move |counts, part| {
            let endian = layout.endian::<H>();
            let info = |e: &H::Rela| e.r_info(endian, layout.mips64el).into();
            counts.add(entries::<H::Rela>(part), |e| (e.r_offset(endian).into(), info(e)));
        });
    }

    pub(super) fn add_rel<H: FileHeader>(&mut self, table: Scan<'_>) {
        let layout = self.layout;
        table.run(self, move |counts, part| {
            let endian = layout.endian::<H>();
            let info = |e: &H::Rel| layout.rel_info(e.r_info(endian).into());
            counts.add(entries::<H::Rel>(part), |e| (e.r_offset(endian).into(), info(e)));
        });
    }

    /// Adds what another thread has counted.
    pub(super) fn merge(&mut self, other: Counts) {
        for (ours, theirs) in self.small.iter_mut().zip(&other.small) {
            ours.all += theirs.all;
            ours.with_symbol += theirs.with_symbol;
        }
        for (kind, theirs) in other.large {
            let ours = self.large.entry(kind).or_default();
            ours.all += theirs.all;
            ours.with_symbol += theirs.with_symbol;
        }
        self.symbols_at_least = self.symbols_at_least.max(other.symbols_at_least);
        self.pages.merge(other.pages);
    }

    /// Linkers sort relocations by type and address, so that both are mostly those of the
    /// entry before: only changes are looked at.
    #[inline(always)]
    fn add<T>(&mut self, table: &[T], read: impl Fn(&T) -> (u64, u64)) {
        let (mut run_info, mut run) = (0, 0);
        let mut page = self.pages.last();
        for entry in table {
            let (offset, info) = read(entry);
            if info != run_info {
                self.count(run_info, run);
                (run_info, run) = (info, 0);
            }
            run += 1;
            // Type 0 without a symbol is R_*_NONE everywhere: it writes nothing.
            if Pages::of(offset) != page && info != 0 {
                page = Pages::of(offset);
                self.pages.add(page);
            }
        }
        self.count(run_info, run);
    }

    fn count(&mut self, info: u64, run: u64) {
        if run == 0 {
            return;
        }
        let symbol = info >> self.layout.symbol_shift & 0xffff_ffff;
        let mut kind = (info & self.layout.type_mask) as u32;
        if self.large.len() >= MAX_LARGE_TYPES && !self.large.contains_key(&kind) {
            kind = kind.min(SMALL_TYPES as u32);
        }
        let count = match self.small.get_mut(kind as usize) {
            Some(count) => count,
            None => self.large.entry(kind).or_default(),
        };
        count.all += run;
        if symbol != 0 {
            count.with_symbol += run;
            self.symbols_at_least = self.symbols_at_least.max(symbol + 1);
        }
    }

    /// Generic ABI, "Relative Relocation Table": an even word is an address to relocate, an odd
    /// one a bitmap of which of the following words to relocate.
    pub(super) fn add_relr<H: FileHeader>(&mut self, bytes: &[u8]) {
        let endian = self.layout.endian::<H>();
        let word_bytes = size_of::<H::Relr>() as u64;
        let bits_per_word = u64::from(<H::Relr as Relr>::COUNT);
        let mut base = 0_u64;
        for word in entries::<H::Relr>(bytes) {
            let word: u64 = word.get(endian).into();
            if word & 1 == 0 {
                self.relr += 1;
                self.pages.add(Pages::of(word));
                base = word.wrapping_add(word_bytes);
                continue;
            }
            let bitmap = word >> 1;
            if bitmap != 0 {
                self.relr += u64::from(bitmap.count_ones());
                let first = u64::from(bitmap.trailing_zeros());
                let last = u64::from(63 - bitmap.leading_zeros());
                // At most 63 words, which lie on two pages at most.
                self.pages.add(Pages::of(base.wrapping_add(first * word_bytes)));
                self.pages.add(Pages::of(base.wrapping_add(last * word_bytes)));
            }
            base = base.wrapping_add(bits_per_word * word_bytes);
        }
    }

    /// Types that occur, RELR aside.
    pub(super) fn by_type(&self) -> impl Iterator<Item = (u32, Count)> {
        let small = self.small.iter().enumerate().map(|(kind, &count)| (kind as u32, count));
        let large = self.large.iter().map(|(&kind, &count)| (kind, count));
        small.chain(large).filter(|(_, count)| count.all > 0)
    }

    /// Whether there were more unknown types than are kept apart; those beyond are counted as one.
    pub(super) fn overflowed(&self) -> bool {
        self.large.len() >= MAX_LARGE_TYPES
    }

    /// All relocations.
    pub(super) fn total(&self) -> u64 {
        self.relr + self.by_type().map(|(_, count)| count.all).sum::<u64>()
    }
}
