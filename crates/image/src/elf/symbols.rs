//! Dynamic symbols, counted.

use super::read::Elf;
use crate::notes::{Budget, Notes, entries, entry};
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, Sym};

/// Dynamic symbols, counted; fields as in [`model::ElfFacts`].
#[derive(Default)]
pub(super) struct Symbols {
    pub(super) imports: u64,
    pub(super) exports: u64,
}

/// Counts the dynamic symbols, as readelf finds them: in SHT_DYNSYM sections; where there are no
/// sections, as a loader finds them.
pub(super) fn read<H: FileHeader>(
    file: &Elf<'_, H>,
    symbols_at_least: u64,
    notes: &mut Notes,
) -> Symbols {
    let mut symbols = Symbols::default();
    let mut budget = Budget::of_file(file.bytes);
    for table in tables(file, symbols_at_least, notes) {
        if budget.take(table, "dynamic symbols", notes) {
            symbols.count::<H>(table, file.endian);
        }
    }
    symbols
}

/// The dynamic symbol tables, null symbols included.
pub(super) fn tables<'a, H: FileHeader>(
    file: &Elf<'a, H>,
    symbols_at_least: u64,
    notes: &mut Notes,
) -> Vec<&'a [u8]> {
    let mut tables = Vec::new();
    for section in file.sections {
        if section.sh_type(file.endian) != elf::SHT_DYNSYM {
            continue;
        }
        let size: u64 = section.sh_entsize(file.endian).into();
        if size == size_of::<H::Sym>() as u64 {
            tables.push(file.section_bytes(section, "dynamic symbols", notes));
        } else {
            notes.problem(format!("dynamic symbols of {size} bytes each"));
        }
    }
    if file.sections.is_empty() {
        tables.extend(from_dynamic(file, symbols_at_least, notes));
    }
    tables
}

impl Symbols {
    fn count<H: FileHeader>(&mut self, table: &[u8], endian: H::Endian) {
        for symbol in entries::<H::Sym>(table).iter().skip(1) {
            if symbol.st_shndx(endian) == elf::SHN_UNDEF {
                self.imports += 1;
            } else if is_export(symbol.st_bind()) {
                self.exports += 1;
            }
        }
    }
}

pub(super) fn is_export(binding: elf::SymbolBind) -> bool {
    matches!(binding, elf::STB_GLOBAL | elf::STB_WEAK | elf::STB_GNU_UNIQUE)
}

/// The dynamic table does not say how many symbols there are; the hash tables do, and where they
/// hold none (they need not list imports), relocations name most of them.
fn from_dynamic<'a, H: FileHeader>(
    file: &Elf<'a, H>,
    symbols_at_least: u64,
    notes: &mut Notes,
) -> Option<&'a [u8]> {
    let address = file.dynamic.get(elf::DT_SYMTAB)?;
    let sysv = file.dynamic.get(elf::DT_HASH).and_then(|at| sysv_count(file, at));
    let gnu = file.dynamic.get(elf::DT_GNU_HASH).and_then(|at| gnu_count(file, at));
    let exact = sysv.or(gnu.filter(|&(_, complete)| complete).map(|(count, _)| count));
    let count = exact.unwrap_or_else(|| {
        notes.problem(
            "no section headers and no hash table that counts the dynamic symbols: imports that \
             no relocation uses are not counted"
                .to_owned(),
        );
        gnu.map_or(0, |(count, _)| count).max(symbols_at_least)
    });
    let size = count.saturating_mul(size_of::<H::Sym>() as u64);
    Some(file.at_address(address, size, "DT_SYMTAB", notes))
}

/// nchain of a DT_HASH table: one chain entry per symbol.
fn sysv_count<H: FileHeader>(file: &Elf<'_, H>, address: u64) -> Option<u64> {
    let table = file.rest_at_address(address)?;
    let machine = file.header.e_machine(file.endian);
    let wide = H::is_type_64_sized() && matches!(machine, elf::EM_ALPHA | elf::EM_S390);
    if wide {
        let chains = table.get(8..)?;
        return entry::<object::U64<H::Endian>>(chains).map(|n| n.get(file.endian));
    }
    let chains = table.get(4..)?;
    entry::<object::U32<H::Endian>>(chains).map(|n| n.get(file.endian).into())
}

/// Number of symbols by a DT_GNU_HASH table, and whether that is all of them: a table without
/// any symbol in it does not say how many imports precede it.
fn gnu_count<H: FileHeader>(file: &Elf<'_, H>, address: u64) -> Option<(u64, bool)> {
    let endian = file.endian;
    let table = file.rest_at_address(address)?;
    let header: &elf::GnuHashHeader<H::Endian> = entry(table)?;
    let word_bytes = if H::is_type_64_sized() { 8 } else { 4 };
    let bloom_bytes = (header.bloom_count.get(endian) as usize).checked_mul(word_bytes)?;
    let bucket_bytes = (header.bucket_count.get(endian) as usize).checked_mul(4)?;
    let rest = table.get(16..)?.get(bloom_bytes..)?;
    let buckets = entries::<object::U32<H::Endian>>(rest.get(..bucket_bytes)?);
    let base = u64::from(header.symbol_base.get(endian));
    let last_chain = buckets.iter().map(|bucket| u64::from(bucket.get(endian))).max()?;
    if last_chain == 0 {
        return Some((base, false));
    }
    let chains = entries::<object::U32<H::Endian>>(rest.get(bucket_bytes..)?);
    let skip = usize::try_from(last_chain.checked_sub(base)?).ok()?;
    let end = chains.get(skip..)?.iter().position(|hash| hash.get(endian) & 1 == 1)?;
    Some((last_chain + end as u64 + 1, true))
}
