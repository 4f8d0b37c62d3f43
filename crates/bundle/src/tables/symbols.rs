//! The dynamic symbol table with its versions, and the hash table through which it is searched.

use crate::plan::exports::Export;
use crate::plan::references::{Left, Leftovers};
use crate::tables::strings::Strings;
use crate::tables::versions::Versions;
use image::elf::loadable::{Binding, SymbolKind, gnu_hash};
use image::elf::spec;

/// Bytes of a symbol.
pub(crate) const SYMBOL: usize = 24;
/// Symbols a bucket, and bits of the Bloom filter a symbol: what GNU linkers choose.
const PER_BUCKET: usize = 2;
const BLOOM_BITS: usize = 12;
const BLOOM_SHIFT: u32 = 26;

/// The tables, and who is where in them.
pub(crate) struct Symbols {
    /// DT_SYMTAB.
    pub(crate) table: Vec<u8>,
    /// DT_VERSYM.
    pub(crate) versions: Vec<u8>,
    /// DT_GNU_HASH.
    pub(crate) hash: Vec<u8>,
    /// Index of each export.
    pub(crate) of_exports: Vec<u32>,
}

/// Index of a symbol that is left: they come first, behind the null symbol.
pub(crate) fn of_left(left: Left) -> u32 {
    left.0 + 1
}

/// Builds the tables. `section`: number of the section that holds an address.
pub(crate) fn build(
    exports: &[Export<'_>],
    left: &Leftovers<'_>,
    versions: &Versions,
    strings: &mut Strings,
    section: impl Fn(&Export<'_>) -> u16,
) -> Symbols {
    let buckets = ((exports.len() / PER_BUCKET) as u32) | 1;
    let mut order: Vec<(u32, u32)> = exports.iter().map(|e| gnu_hash(e.name)).zip(0..).collect();
    // Stable: of several with one name the first found is meant.
    order.sort_by_key(|(hash, _)| hash % buckets);
    let mut symbols = Symbols {
        table: vec![0; SYMBOL],
        versions: vec![0; 2],
        hash: hash(&order, buckets, left.references.len() as u32 + 1),
        of_exports: vec![0; exports.len()],
    };
    for ((reference, binding, kind), version) in left.references.iter().zip(&versions.of_left) {
        let info = bind(*binding) << 4 | kind_of(*kind);
        symbols.add(strings.add(reference.name), info, spec::SHN_UNDEF, [0, 0], *version);
    }
    for (_, index) in order {
        let Some(export) = exports.get(index as usize) else { continue };
        let number = (symbols.table.len() / SYMBOL) as u32;
        if let Some(slot) = symbols.of_exports.get_mut(index as usize) {
            *slot = number;
        }
        let info = bind(export.binding) << 4 | kind_of(export.kind);
        let version = versions.of_exports.get(index as usize).copied().unwrap_or(1);
        let name = strings.add(export.name);
        symbols.add(name, info, section(export), [export.value, export.size], version);
    }
    symbols
}

impl Symbols {
    fn add(&mut self, name: u32, info: u8, section: u16, words: [u64; 2], version: u16) {
        self.table.extend_from_slice(&name.to_le_bytes());
        self.table.extend_from_slice(&[info, spec::STV_DEFAULT]);
        self.table.extend_from_slice(&section.to_le_bytes());
        for word in words {
            self.table.extend_from_slice(&word.to_le_bytes());
        }
        self.versions.extend_from_slice(&version.to_le_bytes());
    }
}

fn hash(order: &[(u32, u32)], buckets: u32, first: u32) -> Vec<u8> {
    let words = (order.len() * BLOOM_BITS / 64).max(1).next_power_of_two();
    let mut bloom = vec![0_u64; words];
    let mut heads = vec![0_u32; buckets as usize];
    let mut chains = Vec::with_capacity(order.len());
    for (at, &(hash, _)) in order.iter().enumerate() {
        let word = &mut bloom[(hash / 64) as usize & (words - 1)];
        *word |= 1 << (hash % 64) | 1 << ((hash >> BLOOM_SHIFT) % 64);
        let bucket = hash % buckets;
        let head = &mut heads[bucket as usize];
        if *head == 0 {
            *head = first + at as u32;
        }
        let last = order.get(at + 1).is_none_or(|(next, _)| next % buckets != bucket);
        chains.push(hash & !1 | u32::from(last));
    }
    let header = [buckets, first, words as u32, BLOOM_SHIFT];
    let mut table: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    table.extend(bloom.iter().flat_map(|word| word.to_le_bytes()));
    table.extend(heads.iter().chain(&chains).flat_map(|word| word.to_le_bytes()));
    table
}

pub(crate) fn bind(binding: Binding) -> u8 {
    match binding {
        Binding::Local => spec::STB_LOCAL,
        Binding::Weak => spec::STB_WEAK,
        Binding::Unique => spec::STB_GNU_UNIQUE,
        Binding::Global | Binding::Other => spec::STB_GLOBAL,
    }
}

pub(crate) fn kind_of(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::None | SymbolKind::Other => spec::STT_NOTYPE,
        SymbolKind::Object | SymbolKind::Common => spec::STT_OBJECT,
        SymbolKind::Function => spec::STT_FUNC,
        SymbolKind::Tls => spec::STT_TLS,
        SymbolKind::IndirectFunction => spec::STT_GNU_IFUNC,
    }
}
