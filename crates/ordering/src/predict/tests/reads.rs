//! What a kernel reads for first touches.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn pages(numbers: impl IntoIterator<Item = u32>) -> Vec<ImagePage> {
    numbers.into_iter().map(ImagePage).collect()
}

/// First page and number of pages of each read.
fn ranges(replay: &Replay) -> Vec<[u64; 2]> {
    let reads = replay.reads.iter();
    reads.map(|read| [read.offset.0 / PAGE_BYTES, read.bytes.div_ceil(PAGE_BYTES)]).collect()
}

fn forward() -> KernelReadAhead {
    KernelReadAhead::linux(ReadAheadKind::Forward)
}

fn centered() -> KernelReadAhead {
    KernelReadAhead::linux(ReadAheadKind::Centered)
}

#[test]
fn a_new_kernel_reads_from_the_missing_page_on() {
    // 40: 40 to 71. 60 is in memory. 30: up to 39. 95: to the end of the mapping at 101.
    let done = replay(&pages([40, 60, 30, 95]), &mapping(100, 50), &forward());
    assert_eq!(ranges(&done), [[40, 32], [30, 10], [95, 6]]);
    assert_eq!(done.reads[1].distance, 42 * PAGE_BYTES);
    assert!(!done.reads[1].is_forward);
    assert_eq!(done.distance(), (42 + 55) * PAGE_BYTES);
    assert_eq!(done.bytes(), 48 * PAGE_BYTES);
    // 60 is in memory, but not in the 64 KiB that were mapped with 40.
    assert_eq!((done.faults, done.major_faults), (4, 3));
}

#[test]
fn a_fault_maps_what_is_in_memory_of_its_64_kib() {
    let done = replay(&pages([32, 33, 47, 48, 63]), &mapping(100, 0), &forward());
    assert_eq!((done.faults, done.major_faults), (2, 1));
    let alone = KernelReadAhead { fault_around_pages: 1, ..forward() };
    assert_eq!(replay(&pages([32, 33, 47, 48, 63]), &mapping(100, 0), &alone).faults, 5);
}

#[test]
fn an_older_kernel_reads_on_both_sides_beyond_the_mapping_too() {
    let done = replay(&pages([50]), &mapping(100, 50), &centered());
    assert_eq!(ranges(&done), [[34, 32]]);
    // From the start of the file on, and to its end.
    assert_eq!(ranges(&replay(&pages([5]), &mapping(100, 50), &centered())), [[0, 32]]);
    assert_eq!(ranges(&replay(&pages([100]), &mapping(100, 3), &centered())), [[84, 20]]);
}

#[test]
fn an_older_kernel_reads_on_while_pages_are_touched_in_order() {
    let done = replay(&pages(17..200), &mapping(300, 0), &centered());
    // 17 is read with 1 to 32, of which 25 is marked; from then on 32 pages at a time.
    assert_eq!(ranges(&done)[..4], [[1, 32], [33, 32], [65, 32], [97, 32]]);
    assert_eq!(done.major_faults, 1);
}

#[test]
fn an_older_kernel_reads_less_ahead_at_marks_of_former_reads() {
    // 101 has 85 to 116 read, 109 is marked. 201 makes the kernel forget that range. At 109 it
    // looks for the first page that is missing behind: 117, 8 pages further, so 9 count as read
    // in order, and twice as many are next.
    let done = replay(&pages([101, 201, 109]), &mapping(300, 0), &centered());
    assert_eq!(ranges(&done), [[85, 32], [185, 32], [117, 18]]);
    assert_eq!(done.major_faults, 2);
}

#[test]
fn pages_that_are_not_mapped_and_files_that_are_too_short_are_passed_over() {
    let short = TextMapping { file_bytes: 3 * PAGE_BYTES + 1, ..mapping(100, 0) };
    let done = replay(&pages([0, 4, 3, 2, 101, u32::MAX]), &short, &forward());
    assert_eq!(ranges(&done), [[3, 1], [2, 1]]);
    assert_eq!(done.reads[0].bytes, 1);
    let nothing = TextMapping { file_bytes: 0, ..mapping(u32::MAX, 0) };
    assert_eq!(replay(&pages([1, 2]), &nothing, &centered()), Replay::default());
}

proptest! {
    #[test]
    fn each_touched_page_is_read_once_and_no_page_twice(
        touched in prop::collection::vec(1u32..400, 0..200),
        is_centered in any::<bool>(),
        ahead in 0u32..80,
        fault_around_pages in 0u32..40,
    ) {
        let kind = if is_centered { ReadAheadKind::Centered } else { ReadAheadKind::Forward };
        let policy = KernelReadAhead { kind, pages: ahead, fault_around_pages };
        let done = replay(&pages(touched.clone()), &mapping(400, 20), &policy);
        let mut read = BTreeSet::new();
        for [start, count] in ranges(&done) {
            for page in start..start + count {
                prop_assert!(read.insert(page), "page {page} is read twice");
            }
        }
        let distinct: BTreeSet<u64> = touched.iter().map(|page| u64::from(*page)).collect();
        prop_assert!(distinct.is_subset(&read));
        prop_assert!(done.major_faults <= done.faults && done.faults <= distinct.len() as u64);
        if !is_centered {
            // What is in memory always reaches as far as a read does.
            prop_assert_eq!(done.reads.len() as u64, done.major_faults);
            let end = read.last().copied().unwrap_or(0);
            prop_assert!(end <= 400, "the mapping ends at page 400, and {end} was read");
        }
    }
}
