//! Relocations applied to the bytes of a file, as a loader applies them to memory.
//!
//! Source: *Base Relocation Types*.

use super::mov::Pair;
use super::relocator::Relocator;
use image::pe::relocations::{RelocationBlock, TableDamage};
use image::pe::spec;
use model::Rva;

/// The places that a block can begin a change at, and the widest change.
const WINDOW: usize = 4096 + 8;

impl Relocator {
    /// Moves every address by a distance (modulo 2⁶⁴). All of it was found to be possible by
    /// [`Relocator::check`].
    pub fn apply(&self, bytes: &mut [u8], distance: u64) -> Result<(), TableDamage> {
        for block in self.blocks() {
            let block = block?;
            let page = self.map().run(block.page).and_then(|(offset, left)| {
                let start = offset.index();
                bytes.get_mut(start..start + left.min(WINDOW))
            });
            match page {
                Some(page) if is_usual(page.len(), block.entries()) => {
                    shift(page, block.entries(), distance);
                }
                _ => self.apply_one_by_one(&block, bytes, distance)?,
            }
        }
        Ok(())
    }

    fn apply_one_by_one(
        &self,
        block: &RelocationBlock<'_>,
        bytes: &mut [u8],
        distance: u64,
    ) -> Result<(), TableDamage> {
        for found in block.relocations() {
            let found = found?;
            match found.kind {
                // The lower half of the distance is zero, so that nothing is carried.
                spec::IMAGE_REL_BASED_HIGH | spec::IMAGE_REL_BASED_HIGHADJ => {
                    self.change(bytes, found.rva, |old| add16(old, (distance >> 16) as u16));
                }
                spec::IMAGE_REL_BASED_LOW => {
                    self.change(bytes, found.rva, |old| add16(old, distance as u16));
                }
                spec::IMAGE_REL_BASED_HIGHLOW => {
                    self.change(bytes, found.rva, |old| add32(old, distance as u32));
                }
                spec::IMAGE_REL_BASED_DIR64 => {
                    self.change(bytes, found.rva, |old| add64(old, distance));
                }
                spec::IMAGE_REL_BASED_ARM_MOV32 | spec::IMAGE_REL_BASED_THUMB_MOV32 => {
                    self.change(bytes, found.rva, |old| match Pair::of(found.kind, old) {
                        Some(pair) => pair.with(pair.address().wrapping_add(distance as u32)),
                        None => old,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn change<const N: usize>(&self, bytes: &mut [u8], rva: Rva, new: impl Fn([u8; N]) -> [u8; N]) {
        let Some(old) = self.read(bytes, rva) else { return };
        for (at, byte) in (rva.0..).zip(new(old)) {
            let offset = self.map().offset(Rva(at));
            if let Some(place) = offset.and_then(|offset| bytes.get_mut(offset.index())) {
                *place = byte;
            }
        }
    }
}

fn add16(old: [u8; 2], distance: u16) -> [u8; 2] {
    u16::from_le_bytes(old).wrapping_add(distance).to_le_bytes()
}

fn add32(old: [u8; 4], distance: u32) -> [u8; 4] {
    u32::from_le_bytes(old).wrapping_add(distance).to_le_bytes()
}

fn add64(old: [u8; 8], distance: u64) -> [u8; 8] {
    u64::from_le_bytes(old).wrapping_add(distance).to_le_bytes()
}

/// Whether all relocations of a page, of which so many bytes are in one piece, are of the types
/// that most images have only.
fn is_usual(page_bytes: usize, entries: &[u8]) -> bool {
    let (entries, _) = entries.as_chunks::<2>();
    let mut usual = true;
    let mut furthest = 0;
    for entry in entries {
        let entry = u16::from_le_bytes(*entry);
        let kind = (entry >> 12) as u8;
        usual &= (kind == spec::IMAGE_REL_BASED_ABSOLUTE)
            | (kind == spec::IMAGE_REL_BASED_HIGHLOW)
            | (kind == spec::IMAGE_REL_BASED_DIR64);
        furthest = furthest.max(entry & 0xfff);
    }
    usual && usize::from(furthest) + size_of::<u64>() <= page_bytes
}

/// Moves the addresses of such a page.
fn shift(page: &mut [u8], entries: &[u8], distance: u64) {
    let (entries, _) = entries.as_chunks::<2>();
    for entry in entries {
        let entry = u16::from_le_bytes(*entry);
        let Some(rest) = page.get_mut(usize::from(entry & 0xfff)..) else { continue };
        match (entry >> 12) as u8 {
            spec::IMAGE_REL_BASED_DIR64 => {
                if let Some(place) = rest.first_chunk_mut() {
                    *place = add64(*place, distance);
                }
            }
            spec::IMAGE_REL_BASED_HIGHLOW => {
                if let Some(place) = rest.first_chunk_mut() {
                    *place = add32(*place, distance as u32);
                }
            }
            _ => {}
        }
    }
}
