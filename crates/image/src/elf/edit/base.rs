//! Moving a whole image to other addresses.

use super::headers::RESERVED;
use super::sections::{SYMBOL_SIZE, symbol_at};
use super::{Edit, EditError};
use crate::elf::records::SectionHeader;
use crate::elf::spec;
use model::{FileOffset, Va};

/// Tags whose values are addresses (gABI, "Dynamic Section"; GNU; x86-64 psABI).
const ADDRESSES: [u64; 19] = [
    spec::DT_PLTGOT,
    spec::DT_HASH,
    spec::DT_STRTAB,
    spec::DT_SYMTAB,
    spec::DT_RELA,
    spec::DT_INIT,
    spec::DT_FINI,
    spec::DT_JMPREL,
    spec::DT_INIT_ARRAY,
    spec::DT_FINI_ARRAY,
    spec::DT_PREINIT_ARRAY,
    spec::DT_RELR,
    spec::DT_GNU_HASH,
    spec::DT_VERSYM,
    spec::DT_VERDEF,
    spec::DT_VERNEED,
    spec::DT_TLSDESC_PLT,
    spec::DT_TLSDESC_GOT,
    spec::DT_X86_64_PLT,
];

/// Tags whose values are not: sizes, counts, flags, offsets of strings.
const PLAIN: [u64; 31] = [
    spec::DT_NEEDED,
    spec::DT_PLTRELSZ,
    spec::DT_RELASZ,
    spec::DT_RELAENT,
    spec::DT_STRSZ,
    spec::DT_SYMENT,
    spec::DT_SONAME,
    spec::DT_RPATH,
    spec::DT_SYMBOLIC,
    spec::DT_RELSZ,
    spec::DT_RELENT,
    spec::DT_PLTREL,
    spec::DT_DEBUG,
    spec::DT_TEXTREL,
    spec::DT_BIND_NOW,
    spec::DT_INIT_ARRAYSZ,
    spec::DT_FINI_ARRAYSZ,
    spec::DT_RUNPATH,
    spec::DT_FLAGS,
    spec::DT_PREINIT_ARRAYSZ,
    spec::DT_RELRSZ,
    spec::DT_RELRENT,
    spec::DT_RELACOUNT,
    spec::DT_RELCOUNT,
    spec::DT_FLAGS_1,
    spec::DT_VERDEFNUM,
    spec::DT_VERNEEDNUM,
    spec::DT_AUXILIARY,
    spec::DT_FILTER,
    spec::DT_X86_64_PLTSZ,
    spec::DT_X86_64_PLTENT,
];

impl Edit<'_> {
    /// Makes it a program of fixed addresses (ET_EXEC), each `distance` higher than before: in
    /// headers, the dynamic table and symbols. Relocations, and the words they wrote, are the
    /// caller's, and so is the order: words are at their new addresses from now on.
    ///
    /// # Errors
    /// A tag of the dynamic table is not known to be an address or not, or addresses would go
    /// beyond those that there are.
    pub fn fix_at(&mut self, distance: u64) -> Result<(), EditError> {
        let far = EditError::Unsupported("its addresses would be too high; choose a lower base");
        let highest = self.headers.programs.iter().map(|program| program.end()).max();
        if highest.unwrap_or_default().checked_add(distance).is_none_or(|end| end >= Va(1 << 47)) {
            return Err(far);
        }
        self.move_symbols(distance)?;
        for entry in &mut self.dynamic {
            if ADDRESSES.contains(&entry.tag) {
                entry.value = entry.value.wrapping_add(distance);
            } else if !PLAIN.contains(&entry.tag) && !spec::DT_VALRNG.contains(&entry.tag) {
                let found = format!("has an entry of the unknown kind {:#x}", entry.tag);
                return Err(EditError::Damaged { what: "the dynamic table", found });
            }
        }
        for program in &mut self.headers.programs {
            if program.kind != spec::PT_GNU_STACK && program.kind != spec::PT_NULL {
                program.address = program.address.wrapping_add(distance);
                program.physical = program.physical.wrapping_add(distance);
            }
        }
        for section in self.headers.sections.iter_mut().filter(|section| section.allocated()) {
            section.address = section.address.wrapping_add(distance);
        }
        // What relocations have left free moves along.
        for room in &mut self.spare {
            *room = room.start.wrapping_add(distance)..room.end.wrapping_add(distance);
        }
        self.headers.file.entry = self.headers.file.entry.wrapping_add(distance);
        self.headers.file.kind = spec::ET_EXEC;
        Ok(())
    }

    /// Tables of symbols: those of the sections, or else the dynamic one.
    fn symbol_tables(&self) -> Vec<(FileOffset, u64)> {
        let kinds = [spec::SHT_SYMTAB, spec::SHT_DYNSYM];
        let sections = self.headers.sections.iter();
        let sections = sections.filter(|section| kinds.contains(&section.kind));
        let mut tables: Vec<_> =
            sections.map(|section| (section.offset, section.size / SYMBOL_SIZE)).collect();
        let dynamic = self.address(spec::DT_SYMTAB).and_then(|at| self.headers.offset_of(at));
        if let Some(offset) =
            dynamic.filter(|dynamic| tables.iter().all(|table| table.0 != *dynamic))
        {
            tables.push((offset, self.image.symbol_count().into()));
        }
        tables
    }

    fn move_symbols(&mut self, distance: u64) -> Result<(), EditError> {
        let outside = || EditError::outside("symbols");
        for (table, count) in self.symbol_tables() {
            for index in 0..count {
                let at = (table + index * SYMBOL_SIZE).0;
                let mut symbol = symbol_at(&self.bytes, at).ok_or_else(outside)?;
                // The address of a linkage stub stands for a function that is defined elsewhere.
                let moves = match symbol.section {
                    spec::SHN_UNDEF => symbol.value != 0,
                    RESERVED.. => false,
                    section => self.headers.sections.is_empty() || self.is_allocated(section),
                };
                if moves && symbol.kind() != spec::STT_TLS {
                    symbol.value = symbol.value.wrapping_add(distance);
                    self.bytes.write(at, &symbol.bytes()).ok_or_else(outside)?;
                }
            }
        }
        Ok(())
    }

    fn is_allocated(&self, section: u16) -> bool {
        let section = self.headers.sections.get(usize::from(section));
        section.is_some_and(SectionHeader::allocated)
    }
}
