//! The symbols that debuggers read (SHT_SYMTAB), where the file has not been stripped of them.

use super::symbols::symbol;
use super::{ENDIAN, Endian, Loadable, Symbol};
use crate::elf::Elf64;
use crate::notes::{entries, string};
use object::elf;
use object::read::elf::SectionHeader;
use std::ops::Range;

/// Where the table and its strings are in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Static {
    symbols: Range<usize>,
    strings: Range<usize>,
}

impl Static {
    pub(super) fn of(file: &Elf64<'_>) -> Static {
        let range = |section: &elf::SectionHeader64<Endian>| {
            let start = usize::try_from(section.sh_offset(ENDIAN)).ok()?;
            let end = start.checked_add(usize::try_from(section.sh_size(ENDIAN)).ok()?)?;
            (end <= file.bytes.len()).then_some(start..end)
        };
        let mut sections = file.sections.iter();
        let table = sections.find(|section| section.sh_type(ENDIAN) == elf::SHT_SYMTAB);
        let found = table.and_then(|table| {
            let strings = file.sections.get(table.sh_link(ENDIAN) as usize)?;
            Some(Static { symbols: range(table)?, strings: range(strings)? })
        });
        found.unwrap_or_default()
    }
}

impl Loadable {
    /// All of them, local ones too; none where the file is stripped.
    pub fn static_symbols(&self) -> impl Iterator<Item = Symbol<'_>> {
        let strings = self.table(&self.statics.strings);
        let table = entries::<elf::Sym64<Endian>>(self.table(&self.statics.symbols));
        table
            .iter()
            .map(move |entry| symbol(entry, string(strings, entry.st_name.get(ENDIAN).into())))
    }
}
