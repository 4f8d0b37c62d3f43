//! A file with changes over it, which is not written yet.

use crate::Stamp;
use crate::overlay::Overlay;
use std::ops::Range;

/// Bytes compared at once.
const PIECE: usize = 4096;

/// A rewritten image: its original, and the pages that differ.
#[derive(Clone)]
pub struct Edited<'a> {
    pub(crate) bytes: Overlay<'a>,
    /// The file that the original is mapped from, as it was then.
    pub(crate) stamp: Option<Stamp>,
}

impl<'a> Edited<'a> {
    /// Changed bytes; `stamp` is that of the file which they are mapped from.
    pub fn new(bytes: Overlay<'a>, stamp: Option<Stamp>) -> Edited<'a> {
        Edited { bytes, stamp }
    }

    /// A file whose new bytes were made elsewhere.
    pub fn of(original: &'a [u8], new: &[u8]) -> Edited<'a> {
        let mut bytes = Overlay::of(original);
        bytes.set_length(new.len() as u64);
        let mut at = 0;
        for piece in new.chunks(PIECE) {
            if original.get(at..at + piece.len()) != Some(piece) {
                bytes.write(at as u64, piece);
            }
            at += piece.len();
        }
        Edited { bytes, stamp: None }
    }

    /// What was there before `written`, given its length and what was replaced in it.
    pub(crate) fn restored(
        written: &'a [u8],
        length: u64,
        replaced: &[(u64, Vec<u8>)],
        stamp: Option<Stamp>,
    ) -> Option<Edited<'a>> {
        let restored = replaced.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        let most = (written.len() as u64).saturating_add(restored);
        let mut bytes = Overlay::of(written);
        bytes.set_length(length.min(most));
        for (offset, old) in replaced {
            bytes.write(*offset, old)?;
        }
        Some(Edited { bytes, stamp })
    }

    /// Bytes of the new file.
    pub fn length(&self) -> u64 {
        self.bytes.length()
    }

    /// The whole new file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes.length() as usize);
        self.pieces().for_each(|piece| bytes.extend_from_slice(piece));
        bytes
    }

    /// The new file from its first byte to its last, in pieces; most are the original's.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.pieces()
    }

    /// Bytes of the original file.
    pub fn original(&self) -> &[u8] {
        self.bytes.base()
    }

    /// Ranges of the original whose bytes are not those of the new file, in order; one that
    /// begins less than 16 bytes behind another is part of it.
    pub fn differences(&self) -> Vec<Range<u64>> {
        const GAP: u64 = 16;
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (offset, new) in self.bytes.changed() {
            let start = (offset as usize).min(self.original().len());
            let old = self.original().get(start..).unwrap_or(&[]);
            let pairs = (offset..).zip(old.iter().zip(new));
            for (at, _) in pairs.filter(|(_, (old, new))| old != new) {
                match ranges.last_mut() {
                    Some(last) if at < last.end + GAP => last.end = at + 1,
                    _ => ranges.push(at..at + 1),
                }
            }
        }
        let (new, old) = (self.length(), self.original().len() as u64);
        if new < old {
            ranges.push(new..old);
        }
        ranges
    }
}
