//! Pairs of MOVW and MOVT, which together load an address of 32 bits.
//!
//! Source: *Arm Architecture Reference Manual* (A-profile, AArch32), MOV (immediate) A2 and T3,
//! MOVT A1 and T1.

use image::pe::spec;

/// The 8 bytes of a pair, and how it is encoded.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    thumb: bool,
    words: [u32; 2],
}

/// What marks both instructions: bits that are looked at, and their values.
const ARM: (u32, [u32; 2]) = (0x0ff0_0000, [0x0300_0000, 0x0340_0000]);
/// The first half-word is the lower one.
const THUMB: (u32, [u32; 2]) = (0x8000_fbf0, [0x0000_f240, 0x0000_f2c0]);

impl Pair {
    /// The pair that a relocation of this type is at, if these bytes are one.
    pub fn of(kind: u8, bytes: [u8; 8]) -> Option<Pair> {
        let thumb = kind == spec::IMAGE_REL_BASED_THUMB_MOV32;
        let [a, b, c, d, e, f, g, h] = bytes;
        let words = [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])];
        let (mask, marks) = if thumb { THUMB } else { ARM };
        let is_pair = words.map(|word| word & mask) == marks;
        is_pair.then_some(Pair { thumb, words })
    }

    /// The address that it loads.
    pub fn address(&self) -> u32 {
        let [low, high] = self.words.map(|word| self.half(word));
        high << 16 | low
    }

    /// The bytes of a pair that loads another address.
    pub fn with(&self, address: u32) -> [u8; 8] {
        let [first, second] = self.words;
        let [a, b, c, d] = self.with_half(first, address & 0xffff).to_le_bytes();
        let [e, f, g, h] = self.with_half(second, address >> 16).to_le_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// The 16 bits in an instruction: imm4:imm12 of ARM, imm4:i:imm3:imm8 of Thumb.
    fn half(&self, word: u32) -> u32 {
        if self.thumb {
            (word & 0xf) << 12
                | (word >> 10 & 1) << 11
                | (word >> 28 & 7) << 8
                | (word >> 16 & 0xff)
        } else {
            (word >> 4 & 0xf000) | (word & 0xfff)
        }
    }

    fn with_half(&self, word: u32, half: u32) -> u32 {
        if self.thumb {
            let rest = word & !(0xf | 1 << 10 | 7 << 28 | 0xff << 16);
            rest | half >> 12 | (half >> 11 & 1) << 10 | (half >> 8 & 7) << 28 | (half & 0xff) << 16
        } else {
            word & !0x000f_0fff | (half & 0xf000) << 4 | half & 0xfff
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: u8 = spec::IMAGE_REL_BASED_ARM_MOV32;
    const THUMB: u8 = spec::IMAGE_REL_BASED_THUMB_MOV32;

    /// As clang-19 assembles `movw r3, #0x1234; movt r3, #0xabcd`, for arm and for thumb.
    const ARM_PAIR: [u8; 8] = [0x34, 0x32, 0x01, 0xe3, 0xcd, 0x3b, 0x4a, 0xe3];
    const THUMB_PAIR: [u8; 8] = [0x41, 0xf2, 0x34, 0x23, 0xca, 0xf6, 0xcd, 0x33];

    #[test]
    fn assembled_pairs_are_understood() {
        for (kind, bytes) in [(ARM, ARM_PAIR), (THUMB, THUMB_PAIR)] {
            let pair = Pair::of(kind, bytes).expect("a pair");
            assert_eq!(pair.address(), 0xabcd_1234, "{kind}");
            assert_eq!(pair.with(0xabcd_1234), bytes);
            for address in [0, 1, 0xffff_ffff, 0x8000_0800, 0x0700_f8ff, 0x1234_5678] {
                let other = Pair::of(kind, pair.with(address)).expect("still a pair");
                assert_eq!(other.address(), address, "{kind}");
                assert_eq!(other.with(0xabcd_1234), bytes, "the register and all else are kept");
            }
        }
    }

    #[test]
    fn other_instructions_are_no_pairs() {
        assert!(Pair::of(THUMB, ARM_PAIR).is_none());
        assert!(Pair::of(ARM, THUMB_PAIR).is_none());
        for (kind, pair) in [(ARM, ARM_PAIR), (THUMB, THUMB_PAIR)] {
            let (movw, movt) = pair.split_at(4);
            let swapped = [movt, movw].concat();
            assert!(Pair::of(kind, swapped.try_into().expect("8 bytes")).is_none(), "{kind}");
        }
    }
}
