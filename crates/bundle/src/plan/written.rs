//! Pages that relocation writes to, where the bundle moves. The preamble has the kernel copy them, many at once,
//! before it relocates them: one page at a time costs more than what is written to it.
//!
//! Where every page of a large page is written to, that is copied as one. So modules are placed in such a way that
//! as many of them as possible are whole.

use crate::plan::layout::PAGE;
use image::elf::{Loadable, spec};
use model::Va;
use startup::WrittenPages;
use std::ops::Range;

/// A run of fewer pages is left to the kernel: the call would cost as much as it saves.
const FEWEST_PAGES: u64 = 4;
/// Pages of a large page.
pub(crate) const LARGE: u64 = WrittenPages::LARGE / PAGE;

/// Runs of pages that follow each other, by number, of words of 8 bytes at these addresses.
pub(crate) fn runs(addresses: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut pages: Vec<u64> =
        addresses.flat_map(|at| [at / PAGE, at.saturating_add(7) / PAGE]).collect();
    pages.sort_unstable();
    pages.dedup();
    let runs = pages.chunk_by(|page, next| page + 1 == *next);
    runs.filter_map(|run| Some(*run.first()?..run.last()? + 1)).collect()
}

/// The whole large pages of a run, and what is around them, as far as it is long enough.
pub(crate) fn split(run: Range<u64>) -> (Range<u64>, Vec<Range<u64>>) {
    let large = whole(&run);
    let around = match large.is_empty() {
        true => vec![run],
        false => vec![run.start..large.start, large.end..run.end],
    };
    let is_long = |pages: &Range<u64>| pages.end.saturating_sub(pages.start) >= FEWEST_PAGES;
    (large, around.into_iter().filter(is_long).collect())
}

/// The pages of whole large pages in a run.
fn whole(run: &Range<u64>) -> Range<u64> {
    let (first, end) = (run.start.next_multiple_of(LARGE), run.end / LARGE * LARGE);
    first..end.max(first)
}

/// The base for a module that can begin at `base` or behind it, at multiples of `unit`: the first one at which the
/// fewest pages are outside of large pages that relocation writes to as a whole.
pub(super) fn base(image: &Loadable, base: u64, unit: u64) -> u64 {
    let relocated = image.relocations().map(|relocation| relocation.offset);
    let addresses = image.packed_addresses().chain(relocated).map(|Va(address)| address);
    // Of a large page that becomes read-only in part, the kernel makes small ones.
    let border = image.segment(spec::PT_GNU_RELRO).map_or(0, |segment| segment.end().0 / PAGE);
    let runs = runs(addresses).into_iter().flat_map(|run| match run.contains(&border) {
        true => [run.start..border, border..run.end],
        false => [0..0, run],
    });
    let runs: Vec<_> = runs.filter(|run| run.end.saturating_sub(run.start) >= LARGE).collect();
    best_base(&runs, base, unit)
}

fn best_base(runs: &[Range<u64>], base: u64, unit: u64) -> u64 {
    let large = |base: u64| -> u64 {
        let moved = |run: &Range<u64>| {
            let page = |page: u64| page.wrapping_add(base / PAGE);
            let pages = whole(&(page(run.start)..page(run.end)));
            pages.end - pages.start
        };
        runs.iter().map(moved).sum()
    };
    if runs.is_empty() || unit == 0 || !base.is_multiple_of(PAGE) || !unit.is_multiple_of(PAGE) {
        return base;
    }
    let tried = (0..WrittenPages::LARGE / unit).map(|step| base.wrapping_add(step * unit));
    // Of equals the first one.
    tried.min_by_key(|base| std::cmp::Reverse(large(*base))).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_follow_each_other_are_one_run() {
        let at = |page: u64, byte: u64| page * PAGE + byte;
        let words = [at(9, 8), at(3, 0), at(4, 8), at(3, 16), at(5, PAGE - 4), at(8, PAGE - 8)];
        assert_eq!(runs(words.into_iter()), [3..7, 8..10]);
        assert_eq!(runs(std::iter::empty()), []);
    }

    #[test]
    fn whole_large_pages_are_set_apart_and_short_runs_are_left() {
        assert_eq!(split(3..6).1, []);
        assert_eq!(split(3..7).1, [3..7]);
        let (large, small) = split(LARGE - 3..3 * LARGE + 4);
        assert_eq!((large, small), (LARGE..3 * LARGE, vec![3 * LARGE..3 * LARGE + 4]));
        // Long enough, but at no multiple.
        let (large, small) = split(1..2 * LARGE - 1);
        assert_eq!((large.is_empty(), small), (true, vec![1..2 * LARGE - 1]));
    }

    #[test]
    fn a_module_is_placed_where_most_large_pages_are_whole() {
        let at = |page: u64| page * PAGE;
        // From page 10 on, one large page and a half are written to.
        let run = 10..10 + LARGE * 3 / 2;
        let one = std::slice::from_ref(&run);
        assert_eq!(best_base(one, at(100), PAGE), at(LARGE / 2 - 10));
        // Only multiples of the unit count.
        let base = best_base(one, 0, at(64));
        assert_eq!(base % at(64), 0);
        assert!(!whole(&(run.start + base / PAGE..run.end + base / PAGE)).is_empty());
        // The first of equals: where it can begin at once.
        assert_eq!(best_base(&[0..LARGE], 0, PAGE), 0);
        assert_eq!(best_base(&[], at(7), PAGE), at(7));
    }
}
