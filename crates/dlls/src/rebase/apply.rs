//! Relocations applied to the bytes of a file, as a loader applies them to memory.
//!
//! Source: *Base Relocation Types*.

use super::mov::Pair;
use super::relocator::Relocator;
use image::pe::relocations::{BaseRelocation, RelocationBlock, TableDamage};
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
                spec::IMAGE_REL_BASED_HIGH | spec::IMAGE_REL_BASED_HIGHADJ => {
                    // The lower half of the distance is zero, so that nothing is carried.
                    let half = (distance >> 16) as u16;
                    self.change(bytes, &found, |old| u16::from_le_bytes(old).wrapping_add(half));
                }
                spec::IMAGE_REL_BASED_LOW => {
                    let half = distance as u16;
                    self.change(bytes, &found, |old| u16::from_le_bytes(old).wrapping_add(half));
                }
                spec::IMAGE_REL_BASED_HIGHLOW => {
                    let low = distance as u32;
                    self.change(bytes, &found, |old| u32::from_le_bytes(old).wrapping_add(low));
                }
                spec::IMAGE_REL_BASED_DIR64 => {
                    self.change(bytes, &found, |old| {
                        u64::from_le_bytes(old).wrapping_add(distance)
                    });
                }
                spec::IMAGE_REL_BASED_ARM_MOV32 | spec::IMAGE_REL_BASED_THUMB_MOV32 => {
                    self.change(bytes, &found, |old| match Pair::of(found.kind, old) {
                        Some(pair) => pair.with(pair.address().wrapping_add(distance as u32)),
                        None => old,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn change<const N: usize, T: Bytes<N>>(
        &self,
        bytes: &mut [u8],
        found: &BaseRelocation,
        new: impl Fn([u8; N]) -> T,
    ) {
        let Some(old) = self.read(bytes, found.rva) else { return };
        for (at, byte) in (found.rva.0..).zip(new(old).bytes()) {
            let offset = self.map().offset(Rva(at));
            if let Some(place) = offset.and_then(|offset| bytes.get_mut(offset.index())) {
                *place = byte;
            }
        }
    }
}

/// Numbers, as they are in files.
trait Bytes<const N: usize> {
    fn bytes(self) -> [u8; N];
}

impl Bytes<2> for u16 {
    fn bytes(self) -> [u8; 2] {
        self.to_le_bytes()
    }
}

impl Bytes<4> for u32 {
    fn bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }
}

impl Bytes<8> for u64 {
    fn bytes(self) -> [u8; 8] {
        self.to_le_bytes()
    }
}

impl Bytes<8> for [u8; 8] {
    fn bytes(self) -> [u8; 8] {
        self
    }
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
                    *place = u64::from_le_bytes(*place).wrapping_add(distance).to_le_bytes();
                }
            }
            spec::IMAGE_REL_BASED_HIGHLOW => {
                if let Some(place) = rest.first_chunk_mut() {
                    *place = u32::from_le_bytes(*place).wrapping_add(distance as u32).to_le_bytes();
                }
            }
            _ => {}
        }
    }
}
