//! First touches of pages, replayed through a kernel's read-ahead: which reads from storage they
//! cause, and which faults.

use super::{ImagePage, KernelReadAhead, PAGE_BYTES, ReadAheadKind, TextMapping};
use model::FileOffset;

/// In memory.
const CACHED: u8 = 1;
/// In the page table of the process.
const MAPPED: u8 = 2;
/// Has the pages behind it read when it is touched.
const MARKED: u8 = 4;

/// One read from storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaRead {
    /// Where in the file.
    pub offset: FileOffset,
    /// How much.
    pub bytes: u64,
    /// From the end of the read before to its start, in either direction; 0 for the first.
    pub distance: u64,
    /// Whether it is further on in the file than the read before.
    pub is_forward: bool,
    /// The page whose first touch caused it.
    pub cause: ImagePage,
}

/// What a kernel does while a run touches its pages for the first time, none of them in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The reads in order.
    pub reads: Vec<MediaRead>,
    /// Page faults of all kinds.
    pub faults: u64,
    /// Page faults that waited for a read.
    pub major_faults: u64,
}

impl Replay {
    /// Bytes read.
    pub fn bytes(&self) -> u64 {
        self.reads.iter().map(|read| read.bytes).sum()
    }

    /// The sum of the distances between successive reads.
    pub fn distance(&self) -> u64 {
        self.reads.iter().map(|read| read.distance).sum()
    }
}

/// Replays the first touches of pages. Pages outside the mapping are passed over.
pub fn replay(touched: &[ImagePage], mapping: &TextMapping, policy: &KernelReadAhead) -> Replay {
    let mut kernel = Kernel::new(mapping, policy);
    for page in touched {
        let at = i64::from(page.0) - i64::from(mapping.first.0);
        if (0..i64::from(mapping.pages).min(mapping.pages_to_end())).contains(&at) {
            kernel.touch(at);
        }
    }
    kernel.done
}

/// A range of pages that was read ahead: `struct file_ra_state`.
#[derive(Clone, Copy, Default)]
struct Ahead {
    start: i64,
    pages: i64,
    behind_mark: i64,
}

/// Pages are counted from the first one of the mapping; those before it in the file are negative.
struct Kernel<'a> {
    mapping: &'a TextMapping,
    policy: &'a KernelReadAhead,
    read_ahead: i64,
    /// Bits of each page from `lowest` on.
    state: Vec<u8>,
    lowest: i64,
    ahead: Ahead,
    done: Replay,
}

impl<'a> Kernel<'a> {
    fn new(mapping: &'a TextMapping, policy: &'a KernelReadAhead) -> Kernel<'a> {
        // A larger read-ahead than 1 GiB reads all of an image anyway.
        let read_ahead = i64::from(policy.pages.clamp(1, 1 << 18));
        let lowest = -read_ahead.min(mapping.pages_before());
        let highest = (i64::from(mapping.pages) + 2 * read_ahead).min(mapping.pages_to_end());
        let pages = usize::try_from(highest - lowest).unwrap_or(0);
        let state = vec![0; pages];
        let (ahead, done) = (Ahead::default(), Replay::default());
        Kernel { mapping, policy, read_ahead, state, lowest, ahead, done }
    }

    fn bits(&self, page: i64) -> u8 {
        let index = usize::try_from(page - self.lowest).ok();
        index.and_then(|index| self.state.get(index)).copied().unwrap_or(0)
    }

    fn set(&mut self, page: i64, change: impl Fn(u8) -> u8) {
        let index = usize::try_from(page - self.lowest).ok();
        if let Some(bits) = index.and_then(|index| self.state.get_mut(index)) {
            *bits = change(*bits);
        }
    }

    fn touch(&mut self, page: i64) {
        if self.bits(page) & MAPPED != 0 {
            return;
        }
        self.done.faults += 1;
        if self.bits(page) & CACHED == 0 {
            self.done.major_faults += 1;
            self.read_around(page);
        } else if self.bits(page) & MARKED != 0 {
            self.set(page, |bits| bits & !MARKED);
            self.read_on(page);
        }
        self.map_around(page);
    }

    /// Reads what a fault has to wait for.
    fn read_around(&mut self, page: i64) {
        let (read_ahead, before) = (self.read_ahead, self.mapping.pages_before());
        self.ahead = match self.policy.kind {
            ReadAheadKind::Forward => {
                let end = (page + read_ahead).min(i64::from(self.mapping.pages));
                Ahead { start: page, pages: end - page, behind_mark: 0 }
            }
            ReadAheadKind::Centered => {
                let start = (page - read_ahead / 2).max(-before);
                Ahead { start, pages: read_ahead, behind_mark: read_ahead / 4 }
            }
        };
        self.read(self.ahead, page);
    }

    /// Reads what is behind a marked page, while the program goes on.
    fn read_on(&mut self, page: i64) {
        let Ahead { start, pages, behind_mark } = self.ahead;
        let (from, last) = if page == start + pages - behind_mark {
            (start + pages, pages)
        } else {
            let missing =
                (page + 1..=page + self.read_ahead).find(|page| self.bits(*page) & CACHED == 0);
            let Some(missing) = missing else { return };
            (missing, missing - page + 1)
        };
        let next = following_size(last, self.read_ahead);
        self.ahead = Ahead { start: from, pages: next, behind_mark: next };
        self.read(self.ahead, page);
    }

    /// Reads the pages of a range that are not in memory, as one page was touched.
    fn read(&mut self, ahead: Ahead, cause: i64) {
        let end = (ahead.start + ahead.pages).min(self.mapping.pages_to_end());
        let end = end.min(self.lowest + self.state.len() as i64);
        let mark = end - ahead.behind_mark;
        let mut page = ahead.start;
        while page < end {
            let start = page;
            while page < end && self.bits(page) & CACHED == 0 {
                let marked = if page == mark { MARKED } else { 0 };
                self.set(page, |bits| bits | CACHED | marked);
                page += 1;
            }
            if page > start {
                self.note(start, page, cause);
            }
            page += 1;
        }
    }

    /// Notes a read of the pages from `start` on, up to `end`.
    fn note(&mut self, start: i64, end: i64, cause: i64) {
        let place =
            |page: i64| self.mapping.offset.0.saturating_add_signed(page * PAGE_BYTES as i64);
        let offset = place(start);
        let bytes = place(end).min(self.mapping.file_bytes).saturating_sub(offset);
        let from = self.done.reads.last().map_or(offset, |last| last.offset.0 + last.bytes);
        self.done.reads.push(MediaRead {
            offset: FileOffset(offset),
            bytes,
            distance: offset.abs_diff(from),
            is_forward: offset >= from,
            cause: self.image_page(cause),
        });
    }

    fn image_page(&self, page: i64) -> ImagePage {
        let number = i64::from(self.mapping.first.0) + page;
        ImagePage(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Maps the page, and what is in memory of those around it. A marked page stays unmapped, so
    /// that its touch is noticed.
    fn map_around(&mut self, page: i64) {
        let around = i64::from(self.policy.fault_around_pages.clamp(1, 1 << 18));
        let first = i64::from(self.mapping.first.0);
        let start = (page + first) / around * around - first;
        let end = (start + around).min(i64::from(self.mapping.pages));
        for other in start.max(0)..end {
            if self.bits(other) & (CACHED | MARKED) == CACHED {
                self.set(other, |bits| bits | MAPPED);
            }
        }
        self.set(page, |bits| bits | MAPPED);
    }
}

/// The size of the range after one of this size: `get_next_ra_size`.
fn following_size(pages: i64, most: i64) -> i64 {
    match pages {
        few if few < most / 16 => 4 * few,
        some if some <= most / 2 => 2 * some,
        _ => most,
    }
}
