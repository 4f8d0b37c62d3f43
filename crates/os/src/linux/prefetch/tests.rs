//! Plans of files of our own, evicted before: what enters memory is counted.

use super::*;
use crate::linux::cache;
use crate::linux::residency::{page_bytes, resident_pages, resident_ranges};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const PAGES: u64 = 64;

/// A file on a disk; nothing where the folder for temporary files is none.
fn file_on_disk(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("data");
    std::fs::write(&path, vec![7; (PAGES * page_bytes()) as usize]).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    cache::evict(&[&path]);
    if resident_pages(&path).unwrap().1.get() != Some(0) {
        testkit::skip("the folder for temporary files is in memory");
        return None;
    }
    Some(path)
}

fn plan(path: &Path, ranges: &[(u64, u64)]) -> AheadPlan {
    let data = path.metadata().unwrap();
    let modified_ns = data.mtime() * 1_000_000_000 + data.mtime_nsec();
    let file = PlannedFile { path: path.to_owned(), size_bytes: data.len(), modified_ns };
    let page = page_bytes();
    let request =
        |&(first, pages)| AheadRequest { file: 0, offset: first * page, bytes: pages * page };
    let requests: Vec<_> = ranges.iter().map(request).collect();
    let sample = |request: &AheadRequest| AheadSample { file: 0, offset: request.offset };
    AheadPlan {
        files: vec![file],
        samples: requests.iter().map(sample).collect(),
        requests,
        parallel: true,
        ..AheadPlan::default()
    }
}

/// What is being read cannot be evicted.
fn evict_all(path: &Path) {
    let began = std::time::Instant::now();
    while resident_pages(path).unwrap().1.get() != Some(0) {
        assert!(began.elapsed().as_secs() < 60);
        cache::evict(&[path]);
    }
}

#[test]
fn exactly_what_is_asked_for_enters_memory() {
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = file_on_disk(folder.path()) else { return };
    for in_disk_order in [false, true] {
        evict_all(&path);
        let plan = AheadPlan { in_disk_order, ..plan(&path, &[(2, 3), (40, 16)]) };
        assert!(!is_warm(&plan, Path::new("/")));
        // The look has brought in what it looked at, on some kernels; it is evicted again.
        let wanted = vec![2..5, 40..56];
        let evicted = || {
            evict_all(&path);
            true
        };
        let ask = || {
            let done = read_ahead(&plan);
            assert_eq!((done.bytes, done.requests), (19 * page_bytes(), 2));
            assert!(done.skipped.is_empty() && !done.without_memory, "{done:?}");
        };
        // readahead(2) does not wait for the disk.
        let now = || {
            let ranges = resident_ranges(&File::open(&path).unwrap()).unwrap();
            // This look comes last, as it may bring in what it looks at, too.
            let is_warm = ranges == wanted && is_warm(&plan, Path::new("/"));
            (ranges, is_warm)
        };
        let warm = (wanted.clone(), true);
        assert_eq!(testkit::brought_in(&warm, evicted, ask, now), Some(warm));
    }
}

/// Without the check of blocks read, one look in 50 finds the page that it has just had read; on a busy machine, one
/// in 8.
#[test]
fn a_page_that_the_look_itself_has_read_counts_as_absent() {
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = file_on_disk(folder.path()) else { return };
    let plan = plan(&path, &[(0, PAGES)]);
    let before = gate::blocks_read();
    std::fs::read(&path).unwrap();
    if gate::blocks_read() == before {
        return testkit::skip("the kernel does not count what a thread has read");
    }
    for _ in 0..500 {
        evict_all(&path);
        assert!(!is_warm(&plan, Path::new("/")));
    }
}

#[test]
fn files_that_have_changed_or_are_none_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, vec![1; 10_000]).unwrap();
    let good = plan(&path, &[(0, 1)]);
    let skipped = |plan: &AheadPlan| {
        assert!(!is_warm(plan, Path::new("/")), "{plan:?}");
        let done = read_ahead(plan);
        assert_eq!((done.bytes, done.skipped.len()), (0, 1), "{done:?}");
        done.skipped[0].reason.clone()
    };
    let mut other = good.clone();
    other.files[0].size_bytes += 1;
    assert_eq!(skipped(&other), SkipReason::Changed);
    other = good.clone();
    other.files[0].modified_ns -= 1_500_000_000;
    assert_eq!(skipped(&other), SkipReason::Changed);
    other = good.clone();
    other.files[0].path = folder.path().to_owned();
    assert_eq!(skipped(&other), SkipReason::NoFile);
    other.files[0].path = "/dev/zero".into();
    assert_eq!(skipped(&other), SkipReason::NoFile);
    other.files[0].path = folder.path().join("gone");
    assert!(matches!(skipped(&other), SkipReason::Refused(_)));
    // Whole seconds, as archives keep them.
    other = good.clone();
    other.files[0].modified_ns -= other.files[0].modified_ns.rem_euclid(1_000_000_000);
    assert_eq!(read_ahead(&other).bytes, page_bytes());
    // An index that leads nowhere, and more than any memory holds.
    other = good.clone();
    other.requests[0].file = 9;
    assert_eq!(read_ahead(&other).bytes, 0);
    other = good;
    other.requests[0].bytes = u64::MAX / 2;
    assert!(read_ahead(&other).without_memory);
}
