//! Sets of pages, for counting those that relocations write to.

/// Numbers of runs held before they are sorted and repeated ones dropped.
const COMPACT_AT: usize = 1 << 16;

/// A set of 4 KiB pages that is filled mostly in ascending order. Its memory depends on what was
/// added only, never on addresses or sizes that the file claims.
#[derive(Default)]
pub(super) struct Pages {
    pages: Vec<u64>,
    compact_at: usize,
}

impl Pages {
    /// The page of an address.
    pub(super) fn of(address: u64) -> u64 {
        address >> 12
    }

    /// The page added last; before the first, a number that is no page's.
    pub(super) fn last(&self) -> u64 {
        self.pages.last().copied().unwrap_or(u64::MAX)
    }

    pub(super) fn add(&mut self, page: u64) {
        if self.last() == page {
            return;
        }
        self.pages.push(page);
        if self.pages.len() > self.compact_at.max(COMPACT_AT) {
            self.compact();
            self.compact_at = 2 * self.pages.len();
        }
    }

    pub(super) fn merge(&mut self, other: Pages) {
        self.pages.extend(other.pages);
    }

    fn compact(&mut self) {
        self.pages.sort_unstable();
        self.pages.dedup();
    }

    /// Number of different pages.
    pub(super) fn count(&mut self) -> u64 {
        self.compact();
        self.pages.len() as u64
    }

    /// The different pages, in order.
    pub(super) fn sorted(mut self) -> Vec<u64> {
        self.compact();
        self.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_once_in_whatever_order() {
        let mut pages = Pages::default();
        for round in 0..5_u64 {
            for page in 0..100_000_u64 {
                pages.add(page * 7919 % 100_003 + round % 2);
            }
        }
        let mut expected: Vec<u64> =
            (0..100_000).flat_map(|p| [p * 7919 % 100_003, p * 7919 % 100_003 + 1]).collect();
        expected.sort_unstable();
        expected.dedup();
        assert!(pages.pages.len() < 500_000);
        assert_eq!(pages.count(), expected.len() as u64);
    }
}
