//! Where new tables go: into room that was freed, or into a new segment.

use super::headers::Headers;
use crate::elf::records::ProgramHeader;
use crate::elf::spec;
use files::Overlay;
use model::{FileOffset, Va};
use std::ops::Range;

/// Largest address of a program on the machines with 47 bits of them.
const HIGHEST: u64 = 1 << 47;
/// Bytes that a file may grow by for the sake of an address alone.
const MOST_PADDING: u64 = 64 << 20;

pub(super) struct Places {
    spare: Vec<Range<Va>>,
    /// Where the new segment begins.
    pub(super) address: Va,
    pub(super) offset: FileOffset,
    /// Whether there can be one.
    pub(super) possible: bool,
    /// What it holds so far.
    pub(super) segment: Vec<u8>,
}

/// A table's bytes and where it may go.
pub(super) struct Table<'a> {
    pub(super) bytes: &'a [u8],
    /// Its address is this much above a multiple of `alignment`.
    pub(super) above: u64,
    pub(super) alignment: u64,
    /// The program or its loader writes to it.
    pub(super) written: bool,
}

impl Places {
    /// `aligned_with_file`: addresses in the new segment are as far from offsets as in the first.
    pub(super) fn of(
        headers: &Headers,
        spare: Vec<Range<Va>>,
        length: u64,
        page: u64,
        aligned_with_file: bool,
    ) -> Places {
        let loaded = || headers.programs.iter().filter(|program| program.loads());
        let end = loaded().map(|program| program.end().0).max().unwrap_or(0);
        let next = |end: u64| end.checked_next_multiple_of(page).filter(|&at| at < HIGHEST);
        let mut address = next(end).unwrap_or(HIGHEST);
        let mut offset = next(length).unwrap_or(HIGHEST);
        if aligned_with_file {
            let first =
                loaded().next().map_or(0, |first| first.address.0.wrapping_sub(first.offset.0));
            offset = offset.max(address.wrapping_sub(first));
            address = offset.wrapping_add(first);
        }
        let possible = offset.saturating_sub(length) <= MOST_PADDING
            && address % page == 0
            && (end..HIGHEST).contains(&address);
        let (address, offset) = (Va(address), FileOffset(offset));
        Places { spare, address, offset, possible, segment: Vec::new() }
    }

    /// Gives a table its place, and its address.
    pub(super) fn put(
        &mut self,
        table: &Table<'_>,
        headers: &Headers,
        bytes: &mut Overlay<'_>,
    ) -> Option<Va> {
        let size = table.bytes.len() as u64;
        let at = |start: Va| {
            let above = start.0.checked_sub(table.above)?;
            above.checked_next_multiple_of(table.alignment)?.checked_add(table.above).map(Va)
        };
        let room = self.spare.iter_mut().filter(|_| !table.written).find_map(|room| {
            let address = at(room.start)?;
            let end = address.checked_add(size).filter(|&end| end <= room.end)?;
            room.start = end;
            Some(address)
        });
        if let Some(address) = room {
            bytes.write(headers.offset_of(address)?.0, table.bytes)?;
            return Some(address);
        }
        let address = at(self.address.checked_add(self.segment.len() as u64)?)?;
        self.segment.resize((address - self.address) as usize, 0);
        self.segment.extend_from_slice(table.bytes);
        Some(address)
    }

    /// Where in the file an address is, the new segment included.
    pub(super) fn offset_of(&self, address: Va, headers: &Headers) -> Option<FileOffset> {
        match address.since(self.address) {
            Some(within) if within <= self.segment.len() as u64 => Some(self.offset + within),
            _ => headers.offset_of(address),
        }
    }

    /// Whether an address is in the new segment.
    pub(super) fn is_new(&self, address: Va) -> bool {
        address >= self.address
    }

    /// The header of the new segment.
    pub(super) fn header(&self, written: bool, page: u64) -> ProgramHeader {
        let size = self.segment.len() as u64;
        ProgramHeader {
            kind: spec::PT_LOAD,
            flags: if written { spec::PF_R | spec::PF_W } else { spec::PF_R },
            offset: self.offset,
            address: self.address,
            physical: self.address,
            file_size: size,
            memory_size: size,
            alignment: page,
        }
    }
}
