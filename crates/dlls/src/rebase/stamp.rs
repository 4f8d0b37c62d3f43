//! Time stamps of images that have been moved.
//!
//! Importers that were bound to an image know it by its `TimeDateStamp`. Their addresses are wrong
//! once it is elsewhere, so the stamp has to be another one; and they are right again when it is
//! back, so the stamp is the old one then.

/// The stamp of an image that was at one base, and is at another.
pub(super) fn moved(stamp: u32, from: u64, to: u64) -> u32 {
    stamp ^ mixed(from) ^ mixed(to)
}

/// A number for every base: bases in different slots of 64 KiB, of which 48 bits have 2³², have
/// different ones. (The finaliser of MurmurHash3, which is a permutation.)
fn mixed(base: u64) -> u32 {
    let mut number = (base >> 16) as u32;
    number = (number ^ number >> 16).wrapping_mul(0x85eb_ca6b);
    number = (number ^ number >> 13).wrapping_mul(0xc2b2_ae35);
    number ^ number >> 16
}

#[cfg(test)]
mod tests {
    use super::moved;
    use std::collections::BTreeSet;

    #[test]
    fn a_way_back_gives_the_old_stamp() {
        let bases = (0..5000_u64).map(|slot| 0x1_8000_0000 + slot * 0x1_0000);
        let stamps: BTreeSet<u32> = bases.clone().map(|base| moved(7, 0x40_0000, base)).collect();
        assert_eq!(stamps.len(), 5000, "every base has a stamp of its own");
        assert!(!stamps.contains(&7));
        for base in bases {
            let there = moved(7, 0x40_0000, base);
            assert_eq!(moved(there, base, 0x40_0000), 7);
            assert_eq!(moved(there, base, 0x1000_0000), moved(7, 0x40_0000, 0x1000_0000));
        }
    }
}
