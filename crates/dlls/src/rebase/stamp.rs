//! Time stamps of images that have been moved.
//!
//! Importers that were bound to an image know it by its `TimeDateStamp`. Their addresses are wrong
//! once it is elsewhere, so the stamp has to be another one; and they are right again when it is
//! back, so the stamp is the old one then.

use model::Va;

/// The stamp of an image that was at one base, and is at another.
pub(super) fn moved(stamp: u32, from: Va, to: Va) -> u32 {
    stamp ^ mixed(from) ^ mixed(to)
}

/// A number for every base: bases in different slots of 64 KiB, of which 48 bits have 2³², have
/// different ones. (The finalizer of MurmurHash3, which is a permutation.)
fn mixed(base: Va) -> u32 {
    let mut number = (base.0 >> 16) as u32;
    number = (number ^ number >> 16).wrapping_mul(0x85eb_ca6b);
    number = (number ^ number >> 13).wrapping_mul(0xc2b2_ae35);
    number ^ number >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const OLD: Va = Va(0x40_0000);

    #[test]
    fn a_way_back_gives_the_old_stamp() {
        let bases = (0..5000_u64).map(|slot| Va(0x1_8000_0000 + slot * 0x1_0000));
        let stamps: BTreeSet<u32> = bases.clone().map(|base| moved(7, OLD, base)).collect();
        assert_eq!(stamps.len(), 5000, "every base has a stamp of its own");
        assert!(!stamps.contains(&7));
        let other = Va(0x1000_0000);
        for base in bases {
            let there = moved(7, OLD, base);
            assert_eq!(moved(there, base, OLD), 7);
            assert_eq!(moved(there, base, other), moved(7, OLD, other));
        }
    }
}
