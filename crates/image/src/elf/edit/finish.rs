//! Every table that has changed gets its place, and the headers say so.

use super::headers::PROGRAM_SIZE;
use super::places::{Places, Table};
use super::program_table::{self, Room};
use super::{DYNAMIC_SIZE, Edit, EditError, dynamic_header, needs, sections};
use crate::elf::records::{DynamicEntry, SectionHeader};
use crate::elf::{spec, trailing_data};
use files::Edited;
use model::{FileOffset, Va};
use std::ops::Range;

/// Name of the section of DT_RELR, as linkers call it.
const PACKED_NAME: &[u8] = b".relr.dyn";
/// Most pages are of this size; on x86-64 all are.
const PAGE: u64 = 4096;
/// The largest pages of the other machines.
const LARGE_PAGE: u64 = 65536;
/// Tables are found through these where one of them moves.
const MOVED_TAGS: [u64; 5] =
    [spec::DT_SYMTAB, spec::DT_GNU_HASH, spec::DT_VERSYM, spec::DT_HASH, spec::DT_STRTAB];

/// A rewritten image.
pub struct Finished<'a> {
    /// Its bytes.
    pub edited: Edited<'a>,
    /// Whether a PT_LOAD segment was added.
    pub new_segment: bool,
}

impl<'a> Edit<'a> {
    /// The rewritten image.
    ///
    /// # Errors
    /// A table has no place to go, or the headers contradict one another.
    pub fn finish(mut self) -> Result<Finished<'a>, EditError> {
        let before = self.headers.sections.clone();
        let page = if self.image.machine == "x86_64" { PAGE } else { LARGE_PAGE };
        let room = program_table::room(&self.headers, &self.image.machine);
        let spare = std::mem::take(&mut self.spare);
        let aligned = room == Room::Elsewhere;
        let length = self.bytes.length();
        let mut places = Places::of(&self.headers, spare, length, page, aligned);
        let mut added = Vec::new();
        self.place_strings(&mut places)?;
        self.place_needs(&mut places)?;
        added.extend(self.place_packed(&mut places)?);
        self.place_dynamic(&mut places)?;
        let new_segment = !places.segment.is_empty();
        if new_segment {
            self.add_segment(&room, &mut places, page)?;
        }
        self.write_dynamic()?;
        sections::settle(&mut self.headers, &before, added, &mut self.bytes)?;
        let outside = || EditError::outside("the headers");
        self.headers.write(&mut self.bytes).ok_or_else(outside)?;
        self.keep_payload()?;
        let edited = Edited::new(self.bytes, self.image.stamp());
        Ok(Finished { edited, new_segment })
    }

    /// Data beside the program is found by its offset, from the file's end, or from the end of the
    /// section headers: all three stay, or nothing is changed.
    fn keep_payload(&self) -> Result<(), EditError> {
        let same = self.bytes.length() == self.image.bytes().len() as u64
            && self.headers.file.sections_at == self.image.header.sections_at
            && self.headers.sections.len() == self.image.sections().len();
        match trailing_data(self.image).filter(|_| !same) {
            Some(payload) => Err(EditError::CarriesData(payload)),
            None => Ok(()),
        }
    }

    /// Puts a table somewhere, and moves its section there. Gives its new address.
    fn place(
        &mut self,
        places: &mut Places,
        table: &Table<'_>,
        section: Option<(u32, Va)>,
    ) -> Result<Va, EditError> {
        let missing = || EditError::outside("the room for a table");
        let address = places.put(table, &self.headers, &mut self.bytes).ok_or_else(missing)?;
        let offset = places.offset_of(address, &self.headers).ok_or_else(missing)?;
        let Some((kind, old)) = section else { return Ok(address) };
        let is_kind = |section: &SectionHeader| section.kind == kind;
        if let Some(section) = self.headers.section_at(old, is_kind) {
            (section.address, section.offset) = (address, offset);
            section.size = table.bytes.len() as u64;
        }
        Ok(address)
    }

    fn place_strings(&mut self, places: &mut Places) -> Result<(), EditError> {
        let Some(strings) = self.strings.grown() else { return Ok(()) };
        let table = Table { bytes: &strings, above: 0, alignment: 1, written: false };
        let section = self.address(spec::DT_STRTAB).map(|old| (spec::SHT_STRTAB, old));
        let address = self.place(places, &table, section)?;
        self.set_value(spec::DT_STRTAB, address.0);
        self.set_value(spec::DT_STRSZ, strings.len() as u64);
        Ok(())
    }

    fn place_needs(&mut self, places: &mut Places) -> Result<(), EditError> {
        let Some(needs) = self.needs.take() else { return Ok(()) };
        let room = self.needs_of_file()?.bytes;
        let bytes = needs::emit(&needs);
        let old = self.address(spec::DT_VERNEED).ok_or_else(|| EditError::outside("DT_VERNEED"))?;
        if bytes.len() <= room {
            return self.write(old, &bytes);
        }
        let table = Table { bytes: &bytes, above: 0, alignment: 8, written: false };
        let address = self.place(places, &table, Some((spec::SHT_GNU_VERNEED, old)))?;
        self.set_value(spec::DT_VERNEED, address.0);
        self.set_value(spec::DT_VERNEEDNUM, needs.len() as u64);
        Ok(())
    }

    /// The section that is added.
    fn place_packed(
        &mut self,
        places: &mut Places,
    ) -> Result<Option<(&'static [u8], SectionHeader)>, EditError> {
        if self.packed.is_empty() {
            return Ok(None);
        }
        let bytes: Vec<u8> = self.packed.iter().flat_map(|word| word.to_le_bytes()).collect();
        let table = Table { bytes: &bytes, above: 0, alignment: 8, written: false };
        let address = self.place(places, &table, None)?;
        self.set_value(spec::DT_RELR, address.0);
        let missing = || EditError::outside("the room for DT_RELR");
        let section = SectionHeader {
            name: 0,
            kind: spec::SHT_RELR,
            flags: spec::SHF_ALLOC,
            address,
            offset: places.offset_of(address, &self.headers).ok_or_else(missing)?,
            size: bytes.len() as u64,
            link: 0,
            info: 0,
            alignment: 8,
            entry_size: 8,
        };
        Ok(Some((PACKED_NAME, section)))
    }

    /// Room for the dynamic table where it is too small: in memory that can be written to where
    /// the loader does. It keeps the debugger's word there (DT_DEBUG), and adds the load address
    /// to pointers before glibc 2.35, which cannot load images with DT_RELR either way.
    fn place_dynamic(&mut self, places: &mut Places) -> Result<(), EditError> {
        let size = (self.dynamic.len() as u64 + 1) * DYNAMIC_SIZE;
        let old = dynamic_header(&self.headers)?;
        if size <= old.file_size {
            return Ok(());
        }
        let written = self.value(spec::DT_DEBUG).is_some() || self.value(spec::DT_RELR).is_none();
        let bytes = vec![0; size as usize];
        let table = Table { bytes: &bytes, above: 0, alignment: 16, written };
        let address = self.place(places, &table, Some((spec::SHT_DYNAMIC, old.address)))?;
        let missing = || EditError::outside("the room for the dynamic table");
        let offset = places.offset_of(address, &self.headers).ok_or_else(missing)?;
        for program in &mut self.headers.programs {
            if program.kind == spec::PT_DYNAMIC {
                program.place(offset, address);
                (program.file_size, program.memory_size) = (size, size);
                program.flags = if written { spec::PF_R | spec::PF_W } else { spec::PF_R };
            }
        }
        let is_dynamic = |section: &SectionHeader| section.kind == spec::SHT_DYNAMIC;
        let section = self.headers.section_at(address, is_dynamic);
        if let Some(section) = section.filter(|_| !written) {
            section.flags &= !spec::SHF_WRITE;
        }
        Ok(())
    }

    fn write_dynamic(&mut self) -> Result<(), EditError> {
        let table = dynamic_header(&self.headers)?;
        let mut bytes: Vec<u8> = self.dynamic.iter().flat_map(DynamicEntry::bytes).collect();
        bytes.resize(table.file_size as usize, 0);
        let outside = || EditError::outside("the dynamic table");
        self.bytes.write(table.offset.0, &bytes).ok_or_else(outside)
    }

    /// Appends the new segment and its program header.
    fn add_segment(
        &mut self,
        room: &Room,
        places: &mut Places,
        page: u64,
    ) -> Result<(), EditError> {
        if !places.possible {
            let full = "its segments leave no room for another one";
            return Err(EditError::Unsupported(full));
        }
        let count = self.headers.programs.len() as u64 + 1;
        match room {
            Room::Free => {}
            Room::InsteadOfProperty => {
                let index = program_table::property(&self.headers);
                index.map(|index| self.headers.programs.remove(index));
            }
            Room::Behind(range) => self.move_behind(range, places)?,
            Room::Elsewhere => {
                let bytes = vec![0; (count * PROGRAM_SIZE) as usize];
                let table = Table { bytes: &bytes, above: 0, alignment: 8, written: true };
                let address = self.place(places, &table, None)?;
                self.headers.file.programs_at = places.offset + (address - places.address);
            }
        }
        let outside = || EditError::outside("the new segment");
        self.bytes.extend_to((places.offset + places.segment.len() as u64).0);
        self.bytes.write(places.offset.0, &places.segment).ok_or_else(outside)?;
        let written = dynamic_header(&self.headers)?;
        let written = places.is_new(written.address) && written.flags & spec::PF_W != 0;
        let programs = &mut self.headers.programs;
        let last = programs.iter().rposition(|program| program.loads()).map_or(0, |at| at + 1);
        programs.insert(last, places.header(written, page));
        if programs.len() >= usize::from(super::headers::RESERVED) {
            return Err(EditError::Unsupported("it has as many segments as there can be"));
        }
        self.describe_table()
    }

    /// PT_PHDR is where the program headers are.
    fn describe_table(&mut self) -> Result<(), EditError> {
        let size = self.headers.programs.len() as u64 * PROGRAM_SIZE;
        let offset = self.headers.file.programs_at;
        let mut loaded = self.headers.programs.iter().filter(|program| program.loads());
        let holder = loaded.find(|program| {
            let end = offset.since(program.offset).and_then(|within| within.checked_add(size));
            end.is_some_and(|end| end <= program.file_size)
        });
        let address = holder.map(|holder| holder.address.wrapping_add(offset - holder.offset));
        for program in &mut self.headers.programs {
            if program.kind == spec::PT_PHDR {
                let address = address.ok_or_else(|| EditError::outside("the program headers"))?;
                program.place(offset, address);
                (program.file_size, program.memory_size) = (size, size);
            }
        }
        Ok(())
    }

    /// Moves a part of the file (a range of offsets) so that program headers can stand there.
    fn move_behind(
        &mut self,
        range: &Range<FileOffset>,
        places: &mut Places,
    ) -> Result<(), EditError> {
        let outside = || EditError::outside("what follows the program headers");
        let size = range.end - range.start;
        let bytes = self.bytes.read(range.start.0, size).ok_or_else(outside)?;
        let holds =
            |extent: Range<FileOffset>| extent.start >= range.start && extent.end <= range.end;
        let mut loaded = self.headers.programs.iter().filter(|program| program.loads());
        let holder = loaded.find(|program| {
            let extent = program.extent();
            extent.start <= range.start && range.end <= extent.end
        });
        let holder = holder.ok_or_else(outside)?;
        let old = holder.address.wrapping_add(range.start - holder.offset);
        let moved = self.headers.sections.iter().filter(|section| section.in_file());
        let moved = moved.filter(|section| holds(section.extent()));
        let alignment = moved.map(|section| section.alignment).max().unwrap_or(1).max(8);
        if !alignment.is_power_of_two() || alignment > PAGE {
            return Err(outside());
        }
        let table = Table { bytes: &bytes, above: old.0 % alignment, alignment, written: false };
        let address = self.place(places, &table, None)?;
        let offset = places.offset_of(address, &self.headers).ok_or_else(outside)?;
        self.bytes.clear(range.start.0, size).ok_or_else(outside)?;
        let distance = address.0.wrapping_sub(old.0);
        let further = offset.0.wrapping_sub(range.start.0);
        for section in self.headers.sections.iter_mut().filter(|section| section.in_file()) {
            if holds(section.extent()) {
                section.address = section.address.wrapping_add(distance);
                section.offset = section.offset.wrapping_add(further);
            }
        }
        let movable = [spec::PT_NOTE, spec::PT_INTERP, spec::PT_GNU_PROPERTY];
        for program in &mut self.headers.programs {
            if movable.contains(&program.kind) && holds(program.extent()) {
                program.address = program.address.wrapping_add(distance);
                program.physical = program.physical.wrapping_add(distance);
                program.offset = program.offset.wrapping_add(further);
            }
        }
        let addresses = old..old.saturating_add(size);
        for entry in &mut self.dynamic {
            if MOVED_TAGS.contains(&entry.tag) && addresses.contains(&Va(entry.value)) {
                entry.value = entry.value.wrapping_add(distance);
            }
        }
        Ok(())
    }
}
