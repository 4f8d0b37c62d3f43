//! What somebody has appended to an image: the archive of an installer, the files of a single-file
//! program. Nothing in the headers speaks of it; the program itself looks for it.

use super::read::Pe;
use model::FileOffset;
use std::ops::Range;

impl Pe<'_> {
    /// Bytes behind the image that no header leads to; none where they are all zero.
    pub fn appended_bytes(&self) -> u64 {
        let length = FileOffset::at(self.bytes().len());
        self.appended_bytes_in(self.headers().data_end().min(length)..length)
    }

    /// The same of a `tail` of the file.
    pub fn appended_bytes_in(&self, tail: Range<FileOffset>) -> u64 {
        let mut known: Vec<Range<FileOffset>> =
            self.offset_fields().into_iter().map(|field| field.data).collect();
        known.extend(self.certificate_range());
        known.sort_by_key(|part| part.start);
        let (mut at, mut bytes, mut zero) = (tail.start, 0, true);
        let mut unknown = |part: Range<FileOffset>| {
            if let Some(found) = self.bytes().get(part.start.index()..part.end.index()) {
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
}
