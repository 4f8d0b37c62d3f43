//! What is done before the loader relocates the bundle: what the preamble's code needs to know for that.

use crate::Functions;
use crate::shared::Range;

/// What [`early()`](crate::early()) needs, which must then be the bundle's first relocation that is not relative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlyAddresses {
    /// Offset of the bytes of an [`AheadList`](crate::AheadList), if the bundle reads itself ahead.
    pub list: Option<i64>,
    /// Offset of the bytes of [`WrittenPages`].
    pub written: i64,
    /// How many ranges are there, and how many of them are large pages.
    pub written_counts: (u64, u64),
    /// Offset of the bytes of [`RecordedPages`], and how many ranges of each kind are there.
    pub recorded: i64,
    /// How many ranges are read, and how many are written to.
    pub recorded_counts: (u64, u64),
    /// Packed relocations (RELR) of the bundle, which the loader is not to know of.
    pub packed: Functions,
    /// The preamble's address before the bundle is moved.
    pub own_address: u64,
}

/// Pages that relocation writes to, which are copied before that, many at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenPages {
    /// Large pages of which relocation writes to every page: offsets of [`WrittenPages::LARGE`] bytes each, which one
    /// mapping of the bundle holds. They are used where the bundle is at a multiple of that size, and the kernel has
    /// large pages for the process.
    pub large: Vec<i64>,
    /// Other runs of pages: offsets and lengths.
    pub runs: Vec<(i64, u64)>,
}

impl WrittenPages {
    /// Bytes of a large page.
    pub const LARGE: u64 = 2 << 20;

    /// The bytes, to be placed at a multiple of 8 where they are mapped read-only.
    pub fn bytes(&self) -> Vec<u8> {
        let large = self.large.iter().map(|&offset| Range { offset, length: WrittenPages::LARGE });
        let runs = self.runs.iter().map(|&(offset, length)| Range { offset, length });
        let mut bytes = Vec::with_capacity(Range::SIZE * (self.large.len() + self.runs.len()));
        large.chain(runs).for_each(|range| range.write(&mut bytes));
        bytes
    }

    /// Their number, and that of the large ones.
    pub fn counts(&self) -> (u64, u64) {
        let large = self.large.len() as u64;
        (large + self.runs.len() as u64, large)
    }
}

/// Pages that a recorded launch used, which are mapped before the program needs them: offsets and lengths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedPages {
    /// Pages that were only read.
    pub read: Vec<(i64, u64)>,
    /// Pages that were written to, which the kernel copies.
    pub written: Vec<(i64, u64)>,
}

impl RecordedPages {
    /// Bytes that each range takes.
    pub const RANGE_BYTES: usize = Range::SIZE;

    /// The bytes, to be placed at a multiple of 8 where they are mapped read-only.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Range::SIZE * (self.read.len() + self.written.len()));
        for &(offset, length) in self.read.iter().chain(&self.written) {
            Range { offset, length }.write(&mut bytes);
        }
        bytes
    }

    /// How many ranges are read, and how many are written to.
    pub fn counts(&self) -> (u64, u64) {
        (self.read.len() as u64, self.written.len() as u64)
    }
}
