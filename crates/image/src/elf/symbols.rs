//! Dynamic symbols, counted.

use super::read::Elf;
use crate::notes::{Budget, Notes, entries, entry};
use object::elf;
use object::read::elf::{FileHeader, GnuHashTable, SectionHeader, Sym};

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

fn is_export(binding: elf::SymbolBind) -> bool {
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
    let table = GnuHashTable::<H>::parse(file.endian, file.rest_at_address(address)?).ok()?;
    let counted = table.symbol_table_length(file.endian);
    Some((counted.unwrap_or(table.symbol_base()).into(), counted.is_some()))
}
