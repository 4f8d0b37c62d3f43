//! The base relocation table of a generated PE image.

use super::layout::patch;
use model::Rva;

const BLOCK_BYTES: u64 = 8;

/// Bytes of the base relocation table of `sites`, ascending offsets in a section.
///
/// Sections begin at a page, so offsets share the page breaks of addresses.
pub(super) fn bytes(sites: impl Iterator<Item = u32>) -> u64 {
    let mut total = 0;
    let mut entries = 0_u64;
    let mut page = None;
    for site in sites {
        if page != Some(site >> 12) {
            page = Some(site >> 12);
            total += 2 * entries.next_multiple_of(2) + BLOCK_BYTES;
            entries = 0;
        }
        entries += 1;
    }
    total + 2 * entries.next_multiple_of(2)
}

/// Appends base relocations of type `kind` at `sites`, ascending offsets in the section at
/// `section_rva`.
///
/// Format: *The .reloc Section*; a block a page, each a multiple of four bytes.
pub(super) fn push(
    out: &mut Vec<u8>,
    section_rva: Rva,
    kind: u8,
    sites: impl Iterator<Item = u32>,
) {
    let mut block: Option<(u32, usize)> = None;
    for site in sites {
        let page = site >> 12;
        if block.is_none_or(|(open, _)| open != page) {
            end(out, block);
            block = Some((page, out.len()));
            out.extend_from_slice(&(section_rva + (page << 12)).0.to_le_bytes());
            out.extend_from_slice(&[0; 4]);
        }
        out.extend_from_slice(&(u16::from(kind) << 12 | (site & 0xfff) as u16).to_le_bytes());
    }
    end(out, block);
}

/// Fills the block up, with a relocation of no effect, and enters its size.
fn end(out: &mut Vec<u8>, block: Option<(u32, usize)>) {
    let Some((_, start)) = block else { return };
    if !(out.len() - start).is_multiple_of(4) {
        out.extend_from_slice(&[0; 2]);
    }
    let bytes = (out.len() - start) as u32;
    patch(out, start + 4, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_a_page_filled_to_four_bytes() {
        let sites = [0, 8, 0xff8, 0x1000, 0x5004];
        let mut out = Vec::new();
        push(&mut out, Rva(0x3000), 10, sites.into_iter());
        let mut expected = Vec::new();
        let words =
            |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
        expected.extend(words(&[0x3000, 16, 0xa008_a000, 0x0000_aff8]));
        expected.extend(words(&[0x4000, 12, 0x0000_a000, 0x8000, 12, 0x0000_a004]));
        assert_eq!(out, expected);
        assert_eq!(bytes(sites.into_iter()), 40);
        assert_eq!(bytes(std::iter::empty()), 0);
    }
}
