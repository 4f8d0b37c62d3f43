//! What somebody has appended to an image: the archive of an installer, the files of a
//! single-file program. Nothing in the headers speaks of it; the program itself looks for it.

use image::pe::Pe;
use model::figures;
use std::ops::Range;

/// Bytes in the file's `tail` that no header leads to, none where they are all zero.
pub(super) fn bytes(file: &Pe<'_>, tail: Range<u64>) -> u64 {
    let mut known: Vec<Range<u64>> =
        file.offset_fields().into_iter().map(|field| field.data).collect();
    known.extend(file.certificate_range());
    known.sort_by_key(|part| part.start);
    let (mut at, mut bytes, mut zero) = (tail.start, 0, true);
    let mut unknown = |part: Range<u64>| {
        if let Some(found) = file.bytes().get(part.start as usize..part.end as usize) {
            zero &= found.iter().all(|&byte| byte == 0);
            bytes += found.len() as u64;
        }
    };
    for part in known.into_iter().filter(|part| part.end > tail.start && part.end <= tail.end) {
        if part.start > at {
            unknown(at..part.start);
        }
        at = at.max(part.end);
    }
    unknown(at..tail.end);
    if zero { 0 } else { bytes }
}

pub(super) fn refusal(bytes: u64) -> String {
    format!(
        "{} were appended to it, as installers, self-extracting archives and single-file programs \
         do. They would move, and a program that looks for them at a fixed place would not find \
         them. --keep-overlay moves them with the end of the file; try the result",
        figures::bytes(bytes)
    )
}
