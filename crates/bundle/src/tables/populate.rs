//! The list of pages that a recorded launch used, for the preamble. Its place has the same size in every bundle,
//! so that nothing moves when it is filled.

use crate::plan::layout::PAGE;
use crate::plan::written::LARGE;
use crate::tables::ahead::{Mapped, Whole, mapped};
use crate::tables::written;
use model::BundleVa;
use model::bundle::BundlePopulate;
use startup::{RecordedPages, WrittenPages};
use std::collections::BTreeSet;
use std::ops::Range;

/// Name of its section.
pub(crate) const SECTION: &str = ".rodata.headstart.populate";
/// Room for two thousand ranges. What does not fit is left to the kernel.
pub(crate) const BYTES: usize = 32 << 10;
/// Pages that the kernel maps with the one that is touched, as far as they are in memory and in the same part: from
/// a multiple of this (fault_around_bytes, mm/memory.c).
const WINDOW: u64 = 16;

/// What of the pages that a launch used is mapped at once, and what is told of it. Pages of `first` are copied before
/// that; those of `relocated` would be copied anyway.
pub(crate) fn pages(
    whole: &Whole<'_>,
    populate: &BundlePopulate,
    (first, relocated): (&WrittenPages, &BTreeSet<u64>),
) -> (RecordedPages, BundlePopulate) {
    let parts = mapped(whole);
    let offset = |page: u64| written::offset(whole.plan, BundleVa(page.wrapping_mul(PAGE)));
    let range = |pages: &Range<u64>| (offset(pages.start), (pages.end - pages.start) * PAGE);
    let mut copied = in_memory(&parts, &populate.copied);
    copied.retain(|pages| !is_within(range(pages), first));
    let shared = in_memory(&parts, &populate.shared);
    let mut read: Vec<u64> =
        shared.iter().flat_map(|run| touches(run, !whole.plan.spec.fixed)).collect();
    read.dedup();
    let all = copied.len() + read.len();
    let most = BYTES / RecordedPages::RANGE_BYTES;
    // Of each kind as much as there is room for, and half of the room at least.
    copied.truncate(most - read.len().min(most / 2));
    read.truncate(most - copied.len());
    let pages = copied.iter().cloned().flatten();
    let told = BundlePopulate {
        ranges: (copied.len() + read.len()) as u64,
        left_out: (all - copied.len() - read.len()) as u64,
        copied_pages: pages.filter(|page| !relocated.contains(page)).count() as u64,
        ..populate.clone()
    };
    let read = read.into_iter().map(|page| (offset(page), PAGE)).collect();
    (RecordedPages { read, written: copied.iter().map(range).collect() }, told)
}

/// Whether a range is copied as a part of another one.
fn is_within((offset, length): (i64, u64), written: &WrittenPages) -> bool {
    let large = written.large.iter().map(|&start| (start, WrittenPages::LARGE));
    let within = |(start, bytes): (i64, u64)| {
        offset >= start
            && offset.saturating_add_unsigned(length) <= start.saturating_add_unsigned(bytes)
    };
    large.chain(written.runs.iter().copied()).any(within)
}

/// Pages of the file as pages of memory, in order; of each part apart.
fn in_memory(parts: &[Mapped], runs: &[(u64, u64)]) -> Vec<Range<u64>> {
    let runs = runs.iter().map(|&(first, count)| first..first.saturating_add(count));
    let mut found: Vec<Range<u64>> = runs
        .flat_map(|run| {
            parts.iter().filter_map(move |part| {
                let (start, end) = (run.start.max(part.file.start), run.end.min(part.file.end));
                let moved = |page: u64| page.wrapping_add(part.distance);
                (start < end).then(|| moved(start)..moved(end))
            })
        })
        .collect();
    found.sort_by_key(|run| run.start);
    found
}

/// Pages of a run of one part whose touch has the kernel map all of it, as far as it is in memory, at this address; or
/// where it `moves`, at any. Not of a whole large page: the kernel maps that at its first touch, too, and where it is
/// none any more, a touch of each window of it would read much that no launch needs.
fn touches(run: &Range<u64>, moves: bool) -> Vec<u64> {
    let (large, large_end) = (run.start.next_multiple_of(LARGE), run.end / LARGE * LARGE);
    let is_small = |page: &u64| !(large..large_end).contains(page);
    let mut pages: Vec<u64> = match moves {
        // Windows may begin anywhere in it.
        true => run.clone().step_by(WINDOW as usize).chain(run.end.checked_sub(1)).collect(),
        false => {
            let windows = run.start / WINDOW..run.end.div_ceil(WINDOW);
            windows.map(|window| run.start.max(window * WINDOW)).collect()
        }
    };
    pages.dedup();
    pages.retain(is_small);
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_file_are_found_where_they_are_mapped() {
        let part = |file: Range<u64>, distance| Mapped { file, distance };
        let parts = [part(0..10, 100), part(10..20, 100), part(30..40, 200)];
        let found = in_memory(&parts, &[(8, 4), (18, 14), (35, 1), (u64::MAX, 9)]);
        assert_eq!(found, [108..110, 110..112, 118..120, 230..232, 235..236]);
    }

    #[test]
    fn a_touch_maps_a_window_and_whole_large_pages_are_left_to_the_kernel() {
        assert_eq!(touches(&(3..9), false), [3]);
        assert_eq!(touches(&(15..33), false), [15, 16, 32]);
        let (before, behind) = (LARGE - 2, 2 * LARGE + 3);
        assert_eq!(touches(&(before..behind), false), [before, 2 * LARGE]);
        assert!(touches(&(LARGE..2 * LARGE), false).is_empty());
    }

    #[test]
    fn wherever_windows_begin_each_has_a_page_that_is_touched() {
        for run in [3..4, 3..9, 15..33, 0..64, 7..100] {
            let touched = touches(&run, true);
            for begin in 0..WINDOW {
                let window = |page: u64| (page + begin) / WINDOW;
                let all = run.clone().map(window);
                let found: Vec<u64> = touched.iter().copied().map(window).collect();
                assert!(all.clone().all(|one| found.contains(&one)), "{run:?} {begin}");
            }
            assert!(touched.len() as u64 <= (run.end - run.start).div_ceil(WINDOW) + 1);
        }
    }

    #[test]
    fn what_is_copied_before_is_not_asked_for_twice() {
        let written =
            WrittenPages { large: vec![WrittenPages::LARGE as i64], runs: vec![(-8192, 8192)] };
        assert!(is_within((-4096, 4096), &written) && is_within((-8192, 8192), &written));
        assert!(!is_within((-4096, 8192), &written) && !is_within((0, 4096), &written));
        assert!(is_within((WrittenPages::LARGE as i64 + 4096, 4096), &written));
    }
}
