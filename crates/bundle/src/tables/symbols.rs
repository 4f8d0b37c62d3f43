//! The dynamic symbol table with its versions, and the hash table through which it is searched.

use crate::plan::exports::{Export, ExportValue};
use crate::plan::references::References;
use crate::tables::strings::Strings;
use crate::tables::versions::Versions;
use image::elf::loadable::{SymbolBinding, SymbolKind, gnu_hash};
use image::elf::records::{SymbolEntry, symbol_info};
use image::elf::spec;
use model::SymbolIndex;

/// Symbols a bucket, as lld has it, and bits of the Bloom filter a symbol, at least. GNU linkers choose more: here
/// the loader looks little up, and what it reads of other tables at every start lies before and behind this one.
const PER_BUCKET: usize = 4;
const BLOOM_BITS: usize = 8;
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
    pub(crate) of_exports: Vec<SymbolIndex>,
}

/// Builds the tables. `local`: the only local symbol. `section`: number of the section that holds an address.
pub(crate) fn build(
    exports: &[Export<'_>],
    references: &References<'_>,
    versions: &Versions,
    strings: &mut Strings,
    local: SymbolEntry,
    section: impl Fn(&Export<'_>) -> u16,
) -> Symbols {
    let buckets = ((exports.len() / PER_BUCKET) as u32) | 1;
    let mut order: Vec<(u32, u32)> = exports.iter().map(|e| gnu_hash(e.name)).zip(0..).collect();
    // Stable: of several with one name the first found is meant.
    order.sort_by_key(|(hash, _)| hash % buckets);
    let mut symbols = Symbols {
        table: vec![0; SymbolEntry::SIZE],
        versions: vec![0; 2],
        hash: hash(&order, buckets, references.all.len() as u32 + 2),
        of_exports: vec![SymbolIndex(0); exports.len()],
    };
    symbols.add(local, 0);
    let versions_of_references = &versions.of_references;
    for ((reference, binding, kind), version) in references.all.iter().zip(versions_of_references) {
        let name = strings.add(reference.name);
        let info = symbol_info(bind(*binding), kind_of(*kind));
        let symbol = SymbolEntry { name, info, ..SymbolEntry::default() };
        symbols.add(symbol, *version);
    }
    for (_, index) in order {
        let export = &exports[index as usize];
        let number = SymbolIndex::at(symbols.table.len() / SymbolEntry::SIZE);
        symbols.of_exports[index as usize] = number;
        let symbol = SymbolEntry {
            name: strings.add(export.name),
            info: symbol_info(bind(export.binding), kind_of(export.kind)),
            visibility: spec::STV_DEFAULT,
            section: section(export),
            value: match export.value {
                ExportValue::Address(address) | ExportValue::Stub(address) => address.0,
                ExportValue::ThreadLocal(offset) => offset.0,
                ExportValue::Absolute(number) => number,
            },
            size: export.size,
        };
        symbols.add(symbol, versions.of_exports[index as usize]);
    }
    symbols
}

impl Symbols {
    fn add(&mut self, symbol: SymbolEntry, version: u16) {
        self.table.extend_from_slice(&symbol.bytes());
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

fn bind(binding: SymbolBinding) -> u8 {
    match binding {
        SymbolBinding::Local => spec::STB_LOCAL,
        SymbolBinding::Weak => spec::STB_WEAK,
        SymbolBinding::Unique => spec::STB_GNU_UNIQUE,
        SymbolBinding::Global | SymbolBinding::Other => spec::STB_GLOBAL,
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
