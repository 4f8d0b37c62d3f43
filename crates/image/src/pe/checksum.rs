//! `CheckSum` of the optional header: the sum of all words with the carry added, and the length.
//!
//! Source: `CheckSumMappedFile` of imagehlp.dll; *Optional Header Windows-Specific Fields*.

use super::headers::Headers;
use super::read::Pe;

/// The sum of some bytes as little-endian words, modulo 65535 but not reduced.
///
/// Sums of parts that begin at even offsets can be added.
pub fn sum(bytes: &[u8]) -> u64 {
    // A word of 8 bytes is the sum of its four words, modulo 65535, as 65536 is 1.
    let (words, rest) = bytes.as_chunks::<4>();
    let total: u64 = words.iter().map(|word| u64::from(u32::from_le_bytes(*word))).sum();
    let rest = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    total + rest
}

/// The checksum of a file whose words have this sum (without `CheckSum` itself) and this length.
pub fn finish(sum: u64, file_bytes: usize) -> u32 {
    let mut folded = sum;
    while folded > 0xffff {
        folded = (folded & 0xffff) + (folded >> 16);
    }
    (folded as u32).wrapping_add(file_bytes as u32)
}

/// The checksum that a file with these headers should have.
pub fn of(headers: &Headers, bytes: &[u8]) -> u32 {
    let at = headers.checksum_offset().index();
    let (before, behind) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
    let behind = behind.get(4..).unwrap_or(&[]);
    if at.is_multiple_of(2) {
        return finish(sum(before) + sum(behind), bytes.len());
    }
    // No linker puts it there, but the format does not forbid it.
    let mut copy = bytes.to_vec();
    if let Some(field) = copy.get_mut(at..at + 4) {
        field.fill(0);
    }
    finish(sum(&copy), bytes.len())
}

impl Pe<'_> {
    /// `CheckSum` as it would be right.
    pub fn computed_checksum(&self) -> u32 {
        of(self.headers(), self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the specification's words have it: 16 bits at a time, the carry added each time.
    fn plainly(bytes: &[u8]) -> u32 {
        let mut sum = 0_u32;
        for word in bytes.chunks(2) {
            let word = u32::from(word[0]) | u32::from(*word.get(1).unwrap_or(&0)) << 8;
            sum += word;
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum + bytes.len() as u32
    }

    #[test]
    fn sums_of_four_bytes_are_those_of_two() {
        let mut bytes: Vec<u8> =
            (0..4099_u32).map(|n| (n.wrapping_mul(2654435761) >> 24) as u8).collect();
        for length in [0, 1, 2, 3, 4, 5, 6, 7, 64, 4095, 4098, 4099] {
            assert_eq!(
                finish(sum(&bytes[..length]), length),
                plainly(&bytes[..length]),
                "{length}"
            );
        }
        bytes.fill(0xff);
        assert_eq!(finish(sum(&bytes), bytes.len()), plainly(&bytes));
    }
}
