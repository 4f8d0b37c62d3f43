//! MAM files: content that Windows 10 and 11 have compressed.
//!
//! `MAM`, a byte of the compression (its upper bit says that a checksum follows), the size of the
//! content, and the content compressed by XPRESS with Huffman codes.

use super::fields::PfFields;
use super::problem::PfProblem;
use super::xpress;

const MAGIC: &[u8] = b"MAM";
/// `COMPRESSION_FORMAT_XPRESS_HUFF` of Windows' `RtlDecompressBufferEx`.
const XPRESS_HUFFMAN: u8 = 4;
const HAS_CHECKSUM: u8 = 0x80;
const HEADER: usize = 8;
/// The largest content that is decompressed. Windows keeps less than 1 MiB of a launch.
pub(super) const MOST_CONTENT_BYTES: usize = 64 << 20;

/// Whether a file begins as a compressed one.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) && bytes.get(3).is_some_and(|way| way & 0x70 == 0)
}

/// The content, its first `at_most` bytes where it has more, and whether its checksum is right.
pub(super) fn content(bytes: &[u8], at_most: usize) -> Result<(Vec<u8>, bool), PfProblem> {
    let fields = PfFields(bytes);
    let way = *bytes.get(3).ok_or(PfProblem::CutShort)?;
    if way & !HAS_CHECKSUM != XPRESS_HUFFMAN {
        return Err(PfProblem::Compression(way & !HAS_CHECKSUM));
    }
    let size = fields.size(4).ok_or(PfProblem::CutShort)?;
    if size > MOST_CONTENT_BYTES {
        return Err(PfProblem::TooLarge(size as u64));
    }
    let (start, sound) = match way & HAS_CHECKSUM {
        0 => (HEADER, true),
        _ => (HEADER + 4, fields.u32(HEADER) == Some(checksum(bytes))),
    };
    let compressed = bytes.get(start..).ok_or(PfProblem::CutShort)?;
    let content = xpress::decompress(compressed, size.min(at_most)).map_err(PfProblem::Damaged)?;
    Ok((content, sound))
}

/// CRC-32 of the whole file with zeros in the place of the checksum.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let place = HEADER..HEADER + 4;
    crc32((0..).zip(bytes).map(|(at, byte)| if place.contains(&at) { 0 } else { *byte }))
}

/// The CRC-32 of zlib.
fn crc32(bytes: impl Iterator<Item = u8>) -> u32 {
    let crc = bytes.fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    !crc
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_has_its_published_check_value() {
        assert_eq!(super::crc32(b"123456789".iter().copied()), 0xcbf4_3926);
    }
}
