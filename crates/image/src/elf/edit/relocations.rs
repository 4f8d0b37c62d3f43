//! The tables of relocations: fewer of the plain ones, and a table of packed ones, or none.

use super::{Edit, EditError};
use crate::elf::loadable::Relocation;
use crate::elf::records::{Rela, SectionHeader};
use crate::elf::{relr, spec};
use model::Va;
use std::ops::Range;

impl Edit<'_> {
    /// Replaces the relocations of DT_RELA by fewer ones; those of the procedure linkage
    /// (DT_JMPREL) stay. Relative ones have to come first. The room left over can hold other
    /// tables.
    ///
    /// # Errors
    /// There are more than before, or the table shares its room with others.
    pub fn replace_relocations(&mut self, kept: &[Relocation]) -> Result<(), EditError> {
        let room = self.relocation_room()?;
        let size = (kept.len() * Rela::SIZE) as u64;
        if size > room.end - room.start {
            return Err(EditError::Unsupported("there is no room for more relocations"));
        }
        let mut table = Vec::with_capacity(size as usize);
        for relocation in kept {
            table.extend(Rela::of_relocation(relocation).bytes());
        }
        let missing = || EditError::outside("DT_RELA");
        let offset = self.headers.offset_of(room.start).ok_or_else(missing)?;
        self.bytes.write(offset.0, &table).ok_or_else(missing)?;
        self.bytes.clear(offset.0 + size, room.end - room.start - size).ok_or_else(missing)?;
        let relative = |kept: &&Relocation| kept.kind == spec::R_X86_64_RELATIVE;
        let relative = kept.iter().take_while(relative).count() as u64;
        for tag in [spec::DT_RELACOUNT, spec::DT_RELA, spec::DT_RELASZ, spec::DT_RELAENT] {
            if size == 0 || (tag == spec::DT_RELACOUNT && relative == 0) {
                self.remove(tag);
            }
        }
        if size > 0 {
            self.set_value(spec::DT_RELASZ, size);
            if relative > 0 {
                self.set_value(spec::DT_RELACOUNT, relative);
            }
        }
        let is_table = |section: &SectionHeader| section.kind == spec::SHT_RELA;
        if let Some(section) = self.headers.section_at(room.start, is_table) {
            section.size = size;
        }
        self.spare.push(room.start + size..room.end);
        Ok(())
    }

    /// The addresses of DT_RELA without those of DT_JMPREL, which must not share more than an end.
    fn relocation_room(&mut self) -> Result<Range<Va>, EditError> {
        let shared = EditError::Unsupported(
            "its relocations share their room with others; link it again with another linker",
        );
        let range = |address, size| {
            let start = self.address(address)?;
            Some(start..start.checked_add(self.value(size).filter(|&size| size > 0)?)?)
        };
        let missing = || EditError::outside("DT_RELA");
        let mut room = range(spec::DT_RELA, spec::DT_RELASZ).ok_or_else(missing)?;
        if let Some(linkage) = range(spec::DT_JMPREL, spec::DT_PLTRELSZ) {
            if linkage.start > room.start && linkage.end == room.end {
                room.end = linkage.start;
            } else if linkage.start < room.end && room.start < linkage.end {
                return Err(shared);
            }
        }
        let file = self.image.at(room.start).map_or(0, <[u8]>::len) as u64;
        if room.end - room.start > file {
            return Err(missing());
        }
        let (start, end) = (room.start, room.end);
        let others = self.headers.sections.iter().filter(|other| other.allocated());
        let overlaps = |other: &SectionHeader| {
            let other_end = other.address.saturating_add(other.size);
            other.in_file() && other.address < end && start < other_end
        };
        for other in others.filter(|other| overlaps(other)) {
            let whole = other.address == start && other.size == end - start;
            if other.kind != spec::SHT_RELA || !whole {
                return Err(shared);
            }
        }
        Ok(room)
    }

    /// Removes the table of packed relative relocations; what it did to words is the caller's.
    ///
    /// # Errors
    /// The table is not in the file.
    pub fn remove_packed(&mut self) -> Result<(), EditError> {
        let (table, size) = (self.address(spec::DT_RELR), self.value(spec::DT_RELRSZ).unwrap_or(0));
        for tag in [spec::DT_RELR, spec::DT_RELRSZ, spec::DT_RELRENT] {
            self.remove(tag);
        }
        let Some(table) = table.filter(|_| size > 0) else { return Ok(()) };
        let zeros = vec![0; self.image.at(table).map_or(0, <[u8]>::len).min(size as usize)];
        self.write(table, &zeros)?;
        let is_table = |section: &SectionHeader| section.kind == spec::SHT_RELR;
        if let Some(section) = self.headers.section_at(table, is_table) {
            section.size = 0;
        }
        Ok(())
    }

    /// Adds a table of packed relative relocations at these addresses, which are multiples of 8,
    /// ascending and distinct. Only for images that have none.
    pub fn set_packed(&mut self, addresses: &[Va]) {
        self.packed = relr::encode(addresses.iter().copied());
        self.set_value(spec::DT_RELR, 0);
        self.set_value(spec::DT_RELRSZ, self.packed.len() as u64 * 8);
        self.set_value(spec::DT_RELRENT, 8);
    }
}
