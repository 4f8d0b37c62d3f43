//! The hash tables through which symbols are found (DT_GNU_HASH, DT_HASH).

use super::{ENDIAN, Endian, Loadable};
use crate::notes::entries;
use model::SymbolIndex;
use object::U32;
use std::ops::Range;

/// Where a symbol of some name is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hash {
    /// DT_GNU_HASH.
    Gnu {
        /// Index of the first symbol in the table.
        first: u32,
        /// Shift of the second bit of the Bloom filter.
        shift: u32,
        /// 64-bit words of the filter, their number a power of two.
        bloom: Range<usize>,
        /// First symbol of each bucket.
        buckets: Range<usize>,
        /// Hashes by symbol; bit 0 ends a chain.
        chains: Range<usize>,
    },
    /// DT_HASH.
    Sysv {
        /// First symbol of each bucket.
        buckets: Range<usize>,
        /// Next symbol.
        chains: Range<usize>,
    },
    /// There is none: nothing can be found.
    None,
}

/// The hash of DT_GNU_HASH: h · 33 + c, from 5381.
pub fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, &c| hash.wrapping_mul(33).wrapping_add(c.into()))
}

/// The hash of DT_HASH and of versions (ELF, "Hash Table").
pub fn sysv_hash(name: &[u8]) -> u32 {
    name.iter().fold(0, |hash: u32, &c| {
        let hash = (hash << 4).wrapping_add(c.into());
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

/// Symbols whose hash is that of a name, and what it took to find them.
#[derive(Clone)]
pub struct Chain<'a> {
    loadable: &'a Loadable,
    gnu_hash: u32,
    /// Symbol to look at next; 0 ends the search.
    next: u32,
    /// Entries that a damaged file may still lead to.
    left: usize,
    /// Entries looked at so far.
    pub steps: u32,
}

impl Loadable {
    /// The chain of symbols in which `name` can be; `gnu` is its [`gnu_hash`].
    pub fn chain(&self, name: &[u8], gnu: u32) -> Chain<'_> {
        let empty = Chain { loadable: self, gnu_hash: gnu, next: 0, left: 0, steps: 0 };
        match &self.hash {
            Hash::None => empty,
            Hash::Gnu { shift, bloom, buckets, chains, .. } => {
                let words = entries::<object::U64<Endian>>(self.table(bloom));
                let mask = words.len().wrapping_sub(1);
                let word = words.get((gnu / 64) as usize & mask).map_or(0, |word| word.get(ENDIAN));
                let second = gnu.checked_shr(*shift).unwrap_or(0);
                if (word >> (gnu % 64)) & (word >> (second % 64)) & 1 == 0 {
                    return empty;
                }
                let left = chains.len() / 4;
                Chain { next: self.bucket(buckets, gnu), left, ..empty }
            }
            Hash::Sysv { buckets, chains } => {
                let next = self.bucket(buckets, sysv_hash(name));
                Chain { next, left: chains.len() / 4, ..empty }
            }
        }
    }

    fn bucket(&self, buckets: &Range<usize>, hash: u32) -> u32 {
        let buckets = entries::<U32<Endian>>(self.table(buckets));
        let index = (hash as usize).checked_rem(buckets.len()).unwrap_or(0);
        buckets.get(index).map_or(0, |first| first.get(ENDIAN))
    }

    fn entry(&self, table: &Range<usize>, index: u32) -> Option<u32> {
        entries::<U32<Endian>>(self.table(table)).get(index as usize).map(|word| word.get(ENDIAN))
    }
}

impl Iterator for Chain<'_> {
    type Item = SymbolIndex;

    fn next(&mut self) -> Option<SymbolIndex> {
        while self.next != 0 && self.left > 0 {
            self.left -= 1;
            self.steps += 1;
            let symbol = self.next;
            match &self.loadable.hash {
                Hash::Gnu { first, chains, .. } => {
                    let hash = self.loadable.entry(chains, symbol.checked_sub(*first)?)?;
                    self.next = if hash & 1 == 1 { 0 } else { symbol.checked_add(1)? };
                    if (hash ^ self.gnu_hash) >> 1 == 0 {
                        return Some(SymbolIndex(symbol));
                    }
                }
                Hash::Sysv { chains, .. } => {
                    self.next = self.loadable.entry(chains, symbol).unwrap_or(0);
                    return Some(SymbolIndex(symbol));
                }
                Hash::None => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{gnu_hash, sysv_hash};

    #[test]
    fn hashes_are_those_of_the_specifications() {
        // Published values of both functions.
        for (name, gnu, sysv) in [
            ("", 0x1505, 0),
            ("printf", 0x156b_2bb8, 0x0779_05a6),
            ("exit", 0x7c96_7e3f, 0x0006_cf04),
        ] {
            assert_eq!((gnu_hash(name.as_bytes()), sysv_hash(name.as_bytes())), (gnu, sysv));
        }
    }
}
