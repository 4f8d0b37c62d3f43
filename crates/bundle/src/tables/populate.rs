//! The list of pages that a recorded launch used, for the preamble. Its place has the same size in every bundle,
//! so that nothing moves when it is filled.

use crate::plan::layout::PAGE;
use crate::plan::written::LARGE;
use crate::tables::ahead::{Mapped, Whole, mapped};
use crate::tables::written;
use model::BundleVa;
use model::bundle::BundlePopulate;
use startup::{RecordedPages, WrittenPages};
use std::ops::Range;

/// Name of its section.
pub(crate) const SECTION: &str = ".rodata.headstart.populate";
/// Room for a thousand ranges. What does not fit is left to the kernel.
pub(crate) const BYTES: usize = 16 << 10;
/// Pages that the kernel maps with the one that is touched, as far as they are in memory and in the same part: from
/// a multiple of this (fault_around_bytes, mm/memory.c).
const WINDOW: u64 = 16;

/// What of the pages that a launch used is mapped at once. Pages of `first` are copied before that.
pub(crate) fn pages(
    whole: &Whole<'_>,
    populate: &BundlePopulate,
    first: &WrittenPages,
) -> RecordedPages {
    let parts = mapped(whole);
    let offset = |page: u64| written::offset(whole.plan, BundleVa(page.wrapping_mul(PAGE)));
    let range = |pages: &Range<u64>| (offset(pages.start), (pages.end - pages.start) * PAGE);
    let copied = in_memory(&parts, &populate.copied);
    let copied = copied.iter().map(range).filter(|range| !is_within(*range, first));
    let mut written: Vec<_> = copied.collect();
    let shared = in_memory(&parts, &populate.shared);
    let mut read: Vec<u64> = shared.iter().flat_map(touches).collect();
    read.dedup();
    let mut read: Vec<_> = read.into_iter().map(|page| (offset(page), PAGE)).collect();
    let most = BYTES / RecordedPages::RANGE_BYTES;
    written.truncate(most);
    read.truncate(most - written.len());
    RecordedPages { read, written }
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

/// Pages of a run of one part whose touch has the kernel map all of it, as far as it is in memory. Not of a whole
/// large page: the kernel maps that at its first touch, too, and where it is none any more, a touch of each window
/// of it would read much that no launch needs.
fn touches(run: &Range<u64>) -> Vec<u64> {
    let (large, large_end) = (run.start.next_multiple_of(LARGE), run.end / LARGE * LARGE);
    let windows = run.start / WINDOW..run.end.div_ceil(WINDOW);
    let pages = windows.map(|window| run.start.max(window * WINDOW));
    pages.filter(|page| !(large..large_end).contains(page)).collect()
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
        assert_eq!(touches(&(3..9)), [3]);
        assert_eq!(touches(&(15..33)), [15, 16, 32]);
        assert_eq!(touches(&(LARGE - 2..2 * LARGE + 3)), [LARGE - 2, 2 * LARGE]);
        assert!(touches(&(LARGE..2 * LARGE)).is_empty());
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
