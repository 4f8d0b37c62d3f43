//! Requests of recordings made up for the purpose.

use super::*;
use crate::sample::{PAGE, file, recording};
use model::{RecordedFile, RecordingMode};
use proptest::prelude::*;

/// Index of the file, first page, pages.
fn requests(plan: &AheadPlan) -> Vec<(usize, u64, u64)> {
    let pages =
        |request: &AheadRequest| (request.file, request.offset / PAGE, request.bytes / PAGE);
    plan.requests.iter().map(pages).collect()
}

#[test]
fn small_gaps_are_read_long_ranges_are_cut_and_times_decide() {
    let files = vec![
        file("/a", &[(0, 1, 0.0), (5, 2, 9.0), (12, 1, 5.0), (100, 70, 3.0)]),
        file("/b", &[(0, 1, 1.0)]),
    ];
    let recording = recording(files);
    let requests = in_order(&recording, GAP_PAGES);
    let timed = AheadPlan { samples: samples(&requests), requests, ..AheadPlan::default() };
    let wanted = [(0, 0, 7), (1, 0, 1), (0, 100, 32), (0, 132, 32), (0, 164, 6), (0, 12, 1)];
    assert_eq!(self::requests(&timed), wanted);
    let plan = plan(&recording, Amount::Recorded, Disk::Flash);
    assert_eq!((plan.looked_up.len(), plan.parallel, plan.in_disk_order), (1, true, false));
    assert_eq!(plan.samples.len(), 6);
    assert_eq!(timed.samples[0], AheadSample { file: 0, offset: 0 });
}

#[test]
fn large_and_small_requests_take_turns_on_slow_flash() {
    // All large ones are touched first.
    let large = (0..20).map(|at| (at * 40, 32, at as f64));
    let small = (0..20).map(|at| (820 + at * 9, 1, 100.0 + at as f64));
    let ranges: Vec<_> = large.chain(small).collect();
    let recording = recording(vec![file("/a", &ranges)]);
    let plan = plan(&recording, Amount::Recorded, Disk::SlowFlash);
    let pages: Vec<u64> = requests(&plan).iter().map(|(_, _, pages)| *pages).collect();
    let turns: Vec<u64> = (0..40).map(|at| if at % 2 == 0 { 32 } else { 1 }).collect();
    assert_eq!(pages, turns);
    let first: Vec<u64> = requests(&plan).iter().map(|(_, first, _)| *first).collect();
    assert!(first.iter().step_by(2).is_sorted() && first.iter().skip(1).step_by(2).is_sorted());
}

#[test]
fn whole_files_are_read_one_after_the_other() {
    let plan = plan(&recording(vec![file("/a", &[(3, 1, 0.0)])]), Amount::WholeFiles, Disk::Flash);
    assert_eq!(plan.bytes(), 1000 * PAGE);
    assert_eq!(requests(&plan)[..2], [(0, 0, 32), (0, 32, 32)]);
    assert!(!plan.parallel && plan.looked_up.is_empty());
}

#[test]
fn an_exact_recording_shows_its_disk() {
    let at = |us: f64| {
        let ranges: Vec<_> = (0..20).map(|at| (at * 100, 1, at as f64 * us)).collect();
        recording(vec![file("/a", &ranges)])
    };
    assert_eq!(Disk::of(&at(100.0)), Disk::Flash);
    let mut slow = at(5000.0);
    assert_eq!(Disk::of(&slow), Disk::MovingHead);
    // With read-ahead the time of a page says nothing.
    slow.mode = RecordingMode::Tracepoints;
    assert_eq!(Disk::of(&slow), Disk::Flash);
}

#[test]
fn the_disk_decides_the_order() {
    let recording = recording(vec![file("/a", &[(0, 10, 0.0)])]);
    let in_disk_order = |disk| plan(&recording, Amount::Recorded, disk).in_disk_order;
    assert_eq!(Disk::ALL.map(in_disk_order), [false, false, true]);
}

#[test]
fn an_empty_recording_asks_for_nothing() {
    let plan = plan(&recording(Vec::new()), Amount::Recorded, Disk::Flash);
    assert!(plan.requests.is_empty() && plan.samples.is_empty());
}

proptest! {
    #[test]
    fn every_recorded_byte_is_asked_for_once(
        pages in proptest::collection::btree_set(0_u64..400, 0..120),
    ) {
        let mut touched = crate::pages::TouchedPages::default();
        for page in &pages {
            touched.touch(*page, (page * 7919 % 101) as f64);
        }
        let (ranges, touched_us) = touched.ranges(PAGE, 1000 * PAGE);
        let file = RecordedFile { ranges, touched_us, ..file("/a", &[]) };
        let plan = plan(&recording(vec![file]), Amount::Recorded, Disk::Flash);
        let mut asked = std::collections::BTreeMap::new();
        for (_, first, count) in requests(&plan) {
            prop_assert!(count * PAGE <= LONGEST_REQUEST_BYTES);
            for page in first..first + count {
                *asked.entry(page).or_insert(0) += 1;
            }
        }
        prop_assert!(pages.iter().all(|page| asked.contains_key(page)));
        prop_assert!(asked.values().all(|times| *times == 1));
        // What was not recorded lies in small gaps.
        let far = |page: &u64| pages.range(page.saturating_sub(4)..=page + 4).next().is_none();
        prop_assert!(!asked.keys().any(far));
    }
}
