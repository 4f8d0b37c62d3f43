//! Which words of a bundle at fixed addresses hold its own addresses: kept in a section, for a
//! later change of its base.

use image::elf::relr;
use model::{BundleVa, Va};

/// Name of the section: how far the preamble is from the bundle's lowest address; a count and so many
/// addresses that are no multiples of 8; then the others as DT_RELR has them. All are from that
/// lowest address, so that they stay true; the preamble is where no tool moves it away from them.
pub(crate) const SECTION: &str = ".headstart.moving";

/// The section for sorted addresses in a bundle that begins at `low`.
pub(crate) fn encode(addresses: &[BundleVa], low: BundleVa, preamble: BundleVa) -> Vec<u8> {
    let from_low = addresses.iter().map(|&at| at - low);
    let (even, odd): (Vec<u64>, Vec<u64>) = from_low.partition(|at| at % 8 == 0);
    let packed = relr::encode(even.into_iter().map(Va));
    let words = [preamble - low, odd.len() as u64].into_iter().chain(odd).chain(packed);
    words.flat_map(u64::to_le_bytes).collect()
}

/// The sorted addresses; None where the section makes no sense.
pub(crate) fn decode(section: &[u8], preamble: BundleVa) -> Option<Vec<BundleVa>> {
    let words = section.chunks_exact(8).filter_map(|word| word.first_chunk());
    let words: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
    let (&[distance, count], rest) = words.split_first_chunk()?;
    let low = BundleVa(preamble.0.wrapping_sub(distance));
    let (odd, packed) = rest.split_at_checked(usize::try_from(count).ok()?)?;
    let packed = relr::decode(packed.iter().copied()).map(|from_low| from_low.0);
    let all = packed.chain(odd.iter().copied());
    let mut addresses: Vec<BundleVa> = all.map(|from_low| low.wrapping_add(from_low)).collect();
    // Two sorted parts.
    addresses.sort();
    Some(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn addresses_come_back_wherever_the_bundle_is_then(
            low in (0_u64..1 << 30).prop_map(|page| BundleVa(page << 12)),
            moved in (0_u64..1 << 30).prop_map(|page| BundleVa(page << 12)),
            offsets in proptest::collection::btree_set(0_u64..1 << 20, 0..300),
        ) {
            let addresses: Vec<BundleVa> = offsets.iter().map(|&offset| low + offset).collect();
            let section = encode(&addresses, low, low + 0x70_0000);
            let expected: Vec<BundleVa> = offsets.iter().map(|&offset| moved + offset).collect();
            prop_assert_eq!(decode(&section, moved + 0x70_0000), Some(expected));
        }

        #[test]
        fn other_bytes_are_no_section_or_some_addresses(bytes: Vec<u8>) {
            decode(&bytes, BundleVa(0x1000));
        }
    }

    #[test]
    fn a_count_beyond_the_section_is_none() {
        assert_eq!(decode(&[0xff; 16], BundleVa::ZERO), None);
        assert_eq!(decode(&[], BundleVa::ZERO), None);
    }
}
