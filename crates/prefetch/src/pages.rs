//! Pages with the times of their first touch, and ranges made of them.

use model::{FileRange, RecordedFile};
use std::collections::BTreeMap;

/// Pages to a range at most, at multiples of this number, so that the times of a long range are not
/// all those of its first page.
const PAGES_A_RANGE: u64 = 32;

/// When each page of one file was touched first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TouchedPages(BTreeMap<u64, f64>);

impl TouchedPages {
    pub(crate) fn touch(&mut self, page: u64, at_us: f64) {
        let first = self.0.entry(page).or_insert(at_us);
        *first = first.min(at_us);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Pages and times, in the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, f64)> {
        self.0.iter().map(|(page, at_us)| (*page, *at_us))
    }

    /// Of a file that was recorded.
    pub(crate) fn of(file: &RecordedFile, page_bytes: u64) -> TouchedPages {
        let mut pages = TouchedPages::default();
        for (range, at_us) in file.ranges.iter().zip(&file.touched_us) {
            let pages_of = range.offset.0 / page_bytes..range.end().div_ceil(page_bytes);
            pages_of.for_each(|page| pages.touch(page, *at_us));
        }
        pages
    }

    /// Ranges and their times, in order of first touch. What lies behind the end of the file is
    /// left out.
    pub(crate) fn ranges(&self, page_bytes: u64, size_bytes: u64) -> (Vec<FileRange>, Vec<f64>) {
        let mut runs: Vec<(u64, u64, f64)> = Vec::new();
        for (&page, &at_us) in &self.0 {
            match runs.last_mut() {
                Some((_, end, first)) if *end == page && page % PAGES_A_RANGE != 0 => {
                    *end += 1;
                    *first = first.min(at_us);
                }
                _ => runs.push((page, page + 1, at_us)),
            }
        }
        runs.retain(|(start, ..)| start.saturating_mul(page_bytes) < size_bytes);
        runs.sort_by(|a, b| a.2.total_cmp(&b.2));
        let range = |&(start, end, _): &(u64, u64, f64)| {
            let offset = start * page_bytes;
            FileRange::from((offset, end.saturating_mul(page_bytes).min(size_bytes) - offset))
        };
        (runs.iter().map(range).collect(), runs.iter().map(|run| run.2).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(pages: &[(u64, f64)], size_bytes: u64) -> Vec<(u64, u64, f64)> {
        let mut touched = TouchedPages::default();
        pages.iter().for_each(|&(page, at_us)| touched.touch(page, at_us));
        let (ranges, times) = touched.ranges(4096, size_bytes);
        let range = |(range, time): (FileRange, f64)| (range.offset.0, range.bytes, time);
        ranges.into_iter().zip(times).map(range).collect()
    }

    #[test]
    fn neighbors_are_one_range_with_the_time_of_the_first_touch() {
        let pages = [(3, 5.0), (4, 2.0), (9, 1.0), (4, 7.0)];
        assert_eq!(ranges(&pages, 1 << 20), [(36864, 4096, 1.0), (12288, 8192, 2.0)]);
    }

    #[test]
    fn a_range_ends_with_the_file() {
        assert_eq!(ranges(&[(0, 1.0), (1, 1.0), (2, 1.0)], 4097), [(0, 4097, 1.0)]);
        assert_eq!(ranges(&[(7, 1.0)], 4097), []);
    }

    #[test]
    fn long_runs_are_cut_at_fixed_places() {
        let pages: Vec<_> = (30..100).map(|page| (page, page as f64)).collect();
        let found = ranges(&pages, 1 << 20);
        let starts: Vec<u64> = found.iter().map(|(offset, ..)| offset / 4096).collect();
        assert_eq!(starts, [30, 32, 64, 96]);
        assert_eq!(found.iter().map(|(_, bytes, _)| bytes).sum::<u64>(), 70 * 4096);
    }
}
