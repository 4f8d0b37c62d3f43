//! DT_HASH (gABI, chapter 5) and DT_GNU_HASH, with the sizes that GNU ld chooses without -O.

use super::bytes::Bytes;
use super::layout::Layout;
use super::symbols::Symbols;

/// GNU ld's numbers of buckets.
const BUCKETS: [u32; 19] = [
    1, 3, 17, 37, 67, 97, 131, 197, 263, 521, 1031, 2053, 4099, 8209, 16_411, 32_771, 65_537,
    131_101, 262_147,
];

fn buckets(symbols: usize) -> u32 {
    let fits = BUCKETS.iter().take_while(|&&buckets| buckets as usize <= symbols);
    fits.last().copied().unwrap_or(1)
}

/// Buckets of a DT_GNU_HASH table of so many exports.
pub(super) fn gnu_buckets(exports: usize) -> u32 {
    if exports == 0 { 1 } else { buckets(exports).max(2) }
}

/// Buckets of the DT_HASH table, which holds imports too.
fn sysv_buckets(symbols: &Symbols) -> u32 {
    buckets(symbols.count() as usize - 1)
}

/// log2 of the bits of the Bloom filter: about eight bits a symbol.
fn bloom_log2(exports: u64) -> u32 {
    if exports == 0 {
        return 6;
    }
    let log2 = exports.next_power_of_two().ilog2() + 1;
    let bits = match log2 {
        ..3 => 6,
        _ if (1 << (log2 - 2)) & exports != 0 => log2 + 3,
        _ => log2 + 2,
    };
    bits.max(6)
}

/// Size of the DT_GNU_HASH table.
pub(super) fn gnu_bytes(symbols: &Symbols) -> u64 {
    let exports = symbols.exports.len() as u64;
    16 + (8 << (bloom_log2(exports) - 6)) + 4 * u64::from(symbols.buckets) + 4 * exports
}

/// Size of the DT_HASH table.
pub(super) fn sysv_bytes(symbols: &Symbols) -> u64 {
    8 + 4 * (u64::from(sysv_buckets(symbols)) + symbols.count())
}

pub(super) fn write(symbols: &Symbols, at: &Layout, out: &mut Bytes) {
    write_gnu(symbols, at.gnu_hash.at, out);
    write_sysv(symbols, at.hash.at, out);
}

fn write_gnu(symbols: &Symbols, at: u64, out: &mut Bytes) {
    let exports = symbols.exports.len();
    let first = 1 + symbols.imports.len() as u32;
    let bits = bloom_log2(exports as u64);
    let words = 1u64 << (bits - 6);
    for (index, value) in [symbols.buckets, first, words as u32, bits].into_iter().enumerate() {
        out.u32(at + 4 * index as u64, value);
    }
    let bucket_table = at + 16 + 8 * words;
    let chains = bucket_table + 4 * u64::from(symbols.buckets);
    let mut bloom = vec![0u64; words as usize];
    let bucket =
        |index: usize| symbols.exports.get(index).map(|(name, _)| name.gnu_hash % symbols.buckets);
    for (index, (name, _)) in symbols.exports.iter().enumerate() {
        let hash = name.gnu_hash;
        bloom[(u64::from(hash / 64) & (words - 1)) as usize] |=
            1 << (hash % 64) | 1 << ((hash >> bits) % 64);
        let here = hash % symbols.buckets;
        if index == 0 || bucket(index - 1) != Some(here) {
            out.u32(bucket_table + 4 * u64::from(here), first + index as u32);
        }
        let last = bucket(index + 1) != Some(here);
        out.u32(chains + 4 * index as u64, hash & !1 | u32::from(last));
    }
    out.words(at + 16, &bloom);
}

fn write_sysv(symbols: &Symbols, at: u64, out: &mut Bytes) {
    let count = symbols.count();
    let buckets = sysv_buckets(symbols);
    out.u32(at, buckets);
    out.u32(at + 4, count as u32);
    let chains = at + 8 + 4 * u64::from(buckets);
    let mut heads = vec![0u32; buckets as usize];
    let names = symbols.imports.iter().chain(symbols.exports.iter().map(|(name, _)| name));
    for (index, name) in (1..).zip(names) {
        let head = &mut heads[(name.sysv_hash % buckets) as usize];
        out.u32(chains + 4 * u64::from(index), *head);
        *head = index;
    }
    for (index, head) in heads.into_iter().enumerate() {
        out.u32(at + 8 + 4 * index as u64, head);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_grow_with_the_symbols() {
        assert_eq!((gnu_buckets(0), gnu_buckets(1), gnu_buckets(3)), (1, 2, 3));
        assert_eq!((buckets(16), buckets(17), buckets(usize::MAX)), (3, 17, 262_147));
        assert_eq!((bloom_log2(0), bloom_log2(1), bloom_log2(100)), (6, 6, 11));
    }
}
