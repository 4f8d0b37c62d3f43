//! What relocations may change, and what they do change.

use super::mov::Pair;
use super::problem::Problem;
use image::pe::relocations::{self, Block, Blocks, Relocation};
use image::pe::{Pe, Places, spec};
use std::ops::Range;

/// An image's relocation table, and where what it changes is in the file. It does not hold the
/// file's bytes, which change meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    rva: u32,
    table: Vec<u8>,
    places: Places,
    shared: Vec<Range<usize>>,
    machine: u16,
    /// Of the address space, and of the file.
    header_bytes: u32,
    headers_end: usize,
}

/// Relocations of an image, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// By type.
    pub kinds: [u64; 16],
    /// The first that is of less than 64 bits, and needs the whole address to be.
    pub narrow: Option<u32>,
    /// The first of the higher half of an address, and its type.
    pub half: Option<(u32, u8)>,
}

impl Counts {
    /// Those that change something.
    pub fn total(&self) -> u64 {
        self.kinds.iter().skip(1).sum()
    }
}

/// Bytes that a relocation changes; `None` for types that are not applied here.
pub(super) fn width(kind: u8, machine: u16) -> Option<u32> {
    let known = matches!(
        relocations::name(kind, machine)?,
        "ABSOLUTE" | "HIGH" | "LOW" | "HIGHLOW" | "HIGHADJ" | "ARM_MOV32" | "THUMB_MOV32" | "DIR64"
    );
    known.then(|| relocations::bytes(kind))
}

impl Ground {
    /// That of an image; without relocations where there is no table.
    pub fn of(pe: &Pe<'_>) -> Result<Ground, Problem> {
        let (rva, table) = pe.relocation_table()?.unwrap_or((0, &[]));
        let places = pe.places();
        let shared = places.shared();
        let headers = pe.headers();
        Ok(Ground {
            rva,
            table: table.to_vec(),
            places,
            shared,
            machine: headers.machine,
            header_bytes: headers.header_bytes,
            headers_end: headers.section_offset(headers.sections.len()),
        })
    }

    /// The relocations, block by block.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks::of(self.rva, &self.table)
    }

    /// Where in the file addresses are.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Finds out whether all relocations can be applied, without applying any.
    pub fn check(&self, bytes: &[u8]) -> Result<Counts, Problem> {
        let mut counts = Counts::default();
        // Behind the last byte that has been found to be changed, while they are in order.
        let mut end = Some(0_u32);
        for block in self.blocks() {
            let block = block?;
            end = match end.and_then(|end| self.check_uniform(&block, end, &mut counts)) {
                Some(end) => Some(end),
                None => {
                    block
                        .relocations()
                        .try_for_each(|found| self.check_one(&found?, bytes, &mut counts))?;
                    None
                }
            };
        }
        match end {
            Some(_) => Ok(counts),
            None => self.check_overlaps().map(|()| counts),
        }
    }

    /// Checks and counts a block of the usual form: one type, in order, in one section. Gives the
    /// end of what it changes; `None` where it is not of that form, and then nothing is counted.
    fn check_uniform(&self, block: &Block<'_>, end: u32, counts: &mut Counts) -> Option<u32> {
        let (entries, _) = block.entries().as_chunks::<2>();
        let padding = entries.iter().rev().take_while(|entry| **entry == [0, 0]).count();
        let entries = entries.get(..entries.len() - padding)?;
        let first = u16::from_le_bytes(*entries.first()?);
        let last = u16::from_le_bytes(*entries.last()?);
        let kind = (first >> 12) as u8;
        let width = match kind {
            spec::IMAGE_REL_BASED_HIGHLOW => 4_u16,
            spec::IMAGE_REL_BASED_DIR64 => 8,
            _ => return None,
        };
        // With the same type in the same bits, entries are ordered as places are.
        let ordered = entries.array_windows().all(|[one, next]| {
            let (one, next) = (u16::from_le_bytes(*one), u16::from_le_bytes(*next));
            next.wrapping_sub(one) >= width && next > one
        });
        if !ordered || first >> 12 != last >> 12 {
            return None;
        }
        let start = block.page.checked_add(u32::from(first & 0xfff))?;
        let behind = block.page.checked_add(u32::from(last & 0xfff) + u32::from(width))?;
        let (offset, left) = self.places.run(start)?;
        let bytes = (behind - start) as usize;
        let clear = start >= end
            && left >= bytes
            && offset >= self.headers_end
            && self.owner(start, behind).is_none()
            && !self.is_shared(offset..offset + bytes);
        if !clear {
            return None;
        }
        counts.kinds[usize::from(kind)] += entries.len() as u64;
        if kind == spec::IMAGE_REL_BASED_HIGHLOW {
            counts.narrow.get_or_insert(start);
        }
        Some(behind)
    }

    fn check_one(
        &self,
        found: &Relocation,
        bytes: &[u8],
        counts: &mut Counts,
    ) -> Result<(), Problem> {
        let Relocation { rva, kind, .. } = *found;
        let name = relocations::name(kind, self.machine);
        let width = width(kind, self.machine).ok_or(Problem::Type { rva, kind, name })?;
        counts.kinds[usize::from(kind & 15)] += 1;
        if width == 0 {
            return Ok(());
        }
        let behind = rva.checked_add(width).ok_or(Problem::NotInFile { rva })?;
        if let Some(what) = self.owner(rva, behind) {
            return Err(Problem::Own { rva, what });
        }
        for at in rva..behind {
            let offset = self.places.offset(at).ok_or(Problem::NotInFile { rva })?;
            if offset < self.headers_end {
                return Err(Problem::Own { rva, what: "headers" });
            }
            if self.is_shared(offset..offset + 1) {
                return Err(Problem::Shared { rva });
            }
        }
        match kind {
            spec::IMAGE_REL_BASED_HIGH | spec::IMAGE_REL_BASED_HIGHADJ => {
                counts.narrow.get_or_insert(rva);
                counts.half.get_or_insert((rva, kind));
            }
            spec::IMAGE_REL_BASED_HIGHLOW => {
                counts.narrow.get_or_insert(rva);
            }
            spec::IMAGE_REL_BASED_ARM_MOV32 | spec::IMAGE_REL_BASED_THUMB_MOV32 => {
                let pair = self.read(bytes, rva).and_then(|bytes| Pair::of(kind, bytes));
                pair.ok_or(Problem::NotMov { rva, name: name.unwrap_or_default() })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What must not be changed in a range of addresses.
    fn owner(&self, start: u32, end: u32) -> Option<&'static str> {
        if start < self.header_bytes && self.places.offset(start) == Some(start as usize) {
            return Some("headers");
        }
        let table = u64::from(self.rva)..u64::from(self.rva) + self.table.len() as u64;
        let overlaps = u64::from(start) < table.end && u64::from(end) > table.start;
        overlaps.then_some("relocation table itself")
    }

    fn is_shared(&self, range: Range<usize>) -> bool {
        self.shared.iter().any(|shared| range.start < shared.end && shared.start < range.end)
    }

    fn check_overlaps(&self) -> Result<(), Problem> {
        let mut changed = Vec::with_capacity(self.table.len() / 2);
        for block in self.blocks() {
            for found in block?.relocations() {
                let Relocation { rva, kind, .. } = found?;
                changed.push((rva, rva.saturating_add(relocations::bytes(kind))));
            }
        }
        changed.retain(|(start, end)| start < end);
        changed.sort_unstable();
        match changed.array_windows().find(|[one, next]| next.0 < one.1) {
            Some([_, next]) => Err(Problem::Twice { rva: next.0 }),
            None => Ok(()),
        }
    }

    /// Bytes at an address, which may be in two sections.
    pub fn read<const N: usize>(&self, bytes: &[u8], rva: u32) -> Option<[u8; N]> {
        let mut found = [0; N];
        for (at, byte) in (rva..).zip(&mut found) {
            *byte = *bytes.get(self.places.offset(at)?)?;
        }
        Some(found)
    }
}
