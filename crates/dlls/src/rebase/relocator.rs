//! The relocations of an image: what they change, and whether all of them can be applied.

use super::mov::Pair;
use super::problem::Problem;
use image::pe::relocations::{self, BaseRelocation, RelocationBlock, RelocationBlocks};
use image::pe::{AddressMap, Pe, spec};
use model::{FileOffset, Rva};
use std::ops::Range;

/// An image's relocation table, and where what it changes is in the file. It does not hold the
/// file's bytes, which change meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Relocator {
    rva: Rva,
    table: Vec<u8>,
    map: AddressMap,
    shared: Vec<Range<usize>>,
    machine: u16,
    /// Of the address space, and of the file.
    header_bytes: u32,
    headers_end: FileOffset,
}

/// Relocations of an image, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// By type.
    pub kinds: [u64; 16],
    /// The first that is of less than 64 bits, and needs the whole address to be.
    pub narrow: Option<Rva>,
    /// The first of the higher half of an address, and its type.
    pub half: Option<(Rva, u8)>,
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

impl Relocator {
    /// That of an image; without relocations where there is no table.
    pub fn of(pe: &Pe<'_>) -> Result<Relocator, Problem> {
        let (rva, table) = pe.relocation_table()?.unwrap_or((Rva(0), &[]));
        let map = pe.address_map().clone();
        let shared = map.shared();
        let headers = pe.headers();
        Ok(Relocator {
            rva,
            table: table.to_vec(),
            map,
            shared,
            machine: headers.machine,
            header_bytes: headers.header_bytes,
            headers_end: headers.section_offset(headers.sections.len()),
        })
    }

    /// The relocations, block by block.
    pub fn blocks(&self) -> RelocationBlocks<'_> {
        RelocationBlocks::of(self.rva, &self.table)
    }

    /// Where in the file addresses are.
    pub fn map(&self) -> &AddressMap {
        &self.map
    }

    /// Finds out whether all relocations can be applied, without applying any.
    pub fn check(&self, bytes: &[u8]) -> Result<Counts, Problem> {
        let mut counts = Counts::default();
        // Behind the last byte that has been found to be changed, while they are in order.
        let mut end = Some(Rva(0));
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
    fn check_uniform(
        &self,
        block: &RelocationBlock<'_>,
        end: Rva,
        counts: &mut Counts,
    ) -> Option<Rva> {
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
        let (offset, left) = self.map.run(start)?;
        let bytes = (behind - start) as usize;
        let clear = start >= end
            && left >= bytes
            && offset >= self.headers_end
            && self.owner(start, behind).is_none()
            && !self.is_shared(offset.index(), bytes);
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
        found: &BaseRelocation,
        bytes: &[u8],
        counts: &mut Counts,
    ) -> Result<(), Problem> {
        let BaseRelocation { rva, kind, .. } = *found;
        let name = relocations::name(kind, self.machine);
        let width = width(kind, self.machine).ok_or(Problem::Type { rva, kind, name })?;
        counts.kinds[usize::from(kind & 15)] += 1;
        if width == 0 {
            return Ok(());
        }
        let behind = rva.checked_add(width).ok_or(Problem::NotInFile(rva))?;
        if let Some(what) = self.owner(rva, behind) {
            return Err(Problem::Overwrites { rva, what });
        }
        for at in rva.0..behind.0 {
            let offset = self.map.offset(Rva(at)).ok_or(Problem::NotInFile(rva))?;
            if offset < self.headers_end {
                return Err(Problem::Overwrites { rva, what: "headers" });
            }
            if self.is_shared(offset.index(), 1) {
                return Err(Problem::Shared(rva));
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
    fn owner(&self, start: Rva, end: Rva) -> Option<&'static str> {
        let unmoved = Some(FileOffset(start.0.into()));
        if start.0 < self.header_bytes && self.map.offset(start) == unmoved {
            return Some("headers");
        }
        let table = u64::from(self.rva.0)..u64::from(self.rva.0) + self.table.len() as u64;
        let overlaps = u64::from(start.0) < table.end && u64::from(end.0) > table.start;
        overlaps.then_some("relocation table itself")
    }

    fn is_shared(&self, start: usize, bytes: usize) -> bool {
        let range = start..start + bytes;
        self.shared.iter().any(|shared| range.start < shared.end && shared.start < range.end)
    }

    fn check_overlaps(&self) -> Result<(), Problem> {
        let mut changed = Vec::with_capacity(self.table.len() / 2);
        for block in self.blocks() {
            for found in block?.relocations() {
                let BaseRelocation { rva, kind, .. } = found?;
                changed.push((rva, rva.saturating_add(relocations::bytes(kind))));
            }
        }
        changed.retain(|(start, end)| start < end);
        changed.sort_unstable();
        match changed.array_windows().find(|[one, next]| next.0 < one.1) {
            Some([_, next]) => Err(Problem::Twice(next.0)),
            None => Ok(()),
        }
    }

    /// Bytes at an address, which may be in two sections.
    pub fn read<const N: usize>(&self, bytes: &[u8], rva: Rva) -> Option<[u8; N]> {
        let mut found = [0; N];
        for (at, byte) in (rva.0..).zip(&mut found) {
            *byte = *bytes.get(self.map.offset(Rva(at))?.index())?;
        }
        Some(found)
    }
}
