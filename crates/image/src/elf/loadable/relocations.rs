//! The relocations that a loader applies, one by one.

use super::{ENDIAN, Endian, Loadable};
pub use crate::elf::Class;
use crate::notes::entries;
use model::{SymbolIndex, Va};
use object::elf;
use object::read::elf::Rela;

/// A relocation that the loader applies, RELR aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Address to write to.
    pub offset: Va,
    /// Number of its type on its machine.
    pub kind: u32,
    /// What is to be done.
    pub class: Class,
    /// Its symbol, if it has one.
    pub symbol: Option<SymbolIndex>,
    /// What is added.
    pub addend: i64,
    /// In the table of the procedure linkage (DT_JMPREL): may wait until the first call.
    pub lazy: bool,
}

impl Loadable {
    /// The relocations in the order in which glibc goes through them.
    pub fn relocations(&self) -> impl Iterator<Item = Relocation> + '_ {
        let eager = self.table(&self.tables.rela);
        let lazy = self.table(&self.tables.plt);
        let all = [(eager, false), (lazy, true)].into_iter();
        all.flat_map(move |(table, lazy)| {
            let entries = entries::<elf::Rela64<Endian>>(table).iter();
            entries.map(move |entry| self.relocation(entry, lazy))
        })
    }

    fn relocation(&self, entry: &elf::Rela64<Endian>, lazy: bool) -> Relocation {
        let kind = entry.r_type(ENDIAN, false).0;
        Relocation {
            offset: Va(entry.r_offset(ENDIAN)),
            kind,
            class: self.tables.classes.get(kind as usize).copied().unwrap_or(Class::Symbol),
            symbol: Some(entry.r_sym(ENDIAN, false)).filter(|&index| index != 0).map(SymbolIndex),
            addend: entry.r_addend(ENDIAN),
            lazy,
        }
    }

    /// How many relative relocations are packed (RELR).
    pub fn packed_relocations(&self) -> u64 {
        let words = entries::<object::U64<Endian>>(self.table(&self.tables.relr));
        let count = |word: &object::U64<Endian>| match word.get(ENDIAN) {
            word if word & 1 == 0 => 1,
            word => u64::from(word.count_ones()) - 1,
        };
        words.iter().map(count).sum()
    }
}
