//! Views of files of all kinds.

use super::*;
use model::CachedMetadata;

const STYLE: Style = Style { color: false, width: 100, unicode: true };

fn cached(path: &str, pages: u64, resident: Reading<u64>, dirty: u64) -> CachedFile {
    let dirty_pages = match &resident {
        Reading::Value(_) => Reading::Value(dirty),
        Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
    };
    CachedFile { path: path.to_owned(), pages, resident_pages: resident, dirty_pages }
}

fn hidden() -> Reading<u64> {
    Reading::unavailable("the kernel tells only the owner", "run headstart as root")
}

fn status(files: Vec<CachedFile>) -> CacheStatus {
    CacheStatus {
        schema: 1,
        headstart: "0".to_owned(),
        command: None,
        files_from: None,
        page_bytes: 4096,
        totals: CacheTotals::of(&files),
        files,
        skipped: vec![SkippedPath { path: "/x".to_owned(), reason: "it is a socket".to_owned() }],
        notes: Vec::new(),
    }
}

#[test]
fn what_is_unknown_is_in_no_sum_and_said() {
    let files = vec![
        cached("/bin/a", 100, Reading::Value(25), 2),
        cached("/bin/b", 7, hidden(), 0),
        cached("/bin/c", 10, Reading::Value(0), 0),
    ];
    let shown = status_view(&status(files.clone()), &STYLE, false);
    for part in [
        "25 of 110 pages of 2 files in memory (100.0 KiB, 22.7 %), 2 of them changed",
        "Of 1 other file with 7 pages it is not known.",
        "  /bin/a         25    100  25.0 %        2\n",
        "  /bin/b    unknown      7          unknown\n",
        "note: unknown of 1 file: the kernel tells only the owner (run headstart as root)",
        "note: left out: /x: it is a socket",
    ] {
        let flat = shown.replace('\n', " ");
        assert!(shown.contains(part) || flat.contains(part), "{part:?} is not in\n{shown}");
    }
    assert!(!shown.contains("/bin/c"));
    assert!(status_view(&status(files.clone()), &STYLE, true).contains("/bin/c"));
    let none = status_view(&status(files[1..2].to_vec()), &STYLE, false);
    assert!(none.starts_with("Of 1 file it is not known how much is in memory."), "{none}");
}

#[test]
fn files_that_are_not_known_are_not_said_to_be_in_memory() {
    let known = |at| cached(&format!("/bin/{at}"), 5, Reading::Value(5), 0);
    let mut files: Vec<CachedFile> = (0..30).map(known).collect();
    let shown = status_view(&status(files.clone()), &STYLE, false);
    assert!(shown.contains("  10 more files have pages in memory\n"), "{shown}");
    files.push(cached("/sys/x", 1, hidden(), 0));
    let shown = status_view(&status(files), &STYLE, false);
    assert!(shown.contains("  11 more files\n"), "{shown}");
    let none = status_view(&status(Vec::new()), &STYLE, false);
    assert!(none.starts_with("There is no file to look at.\n"), "{none}");
    let none = eviction_view(&eviction(Vec::new(), EvictionLevel::File), &STYLE, false);
    assert!(none.contains("There is no file to evict.\n"), "{none}");
}

fn eviction(files: Vec<EvictedFile>, level: EvictionLevel) -> CacheEviction {
    let state = |pages: fn(&EvictedFile) -> &Reading<u64>| {
        let cached =
            files.iter().map(|file| cached(&file.path, file.pages, pages(file).clone(), 0));
        CacheTotals::of(&cached.collect::<Vec<_>>())
    };
    CacheEviction {
        schema: 1,
        headstart: "0".to_owned(),
        command: Some("program".to_owned()),
        files_from: Some("files of a test".to_owned()),
        level,
        page_bytes: 4096,
        evicted_pages: hidden(),
        left_pages: hidden(),
        before: state(|file| &file.before_pages),
        after: state(|file| &file.left_pages),
        files,
        hidden_processes: 3,
        metadata: CachedMetadata {
            block_kib: Reading::Value(2048),
            names: Reading::Value(1000),
            inodes: Reading::Value(500),
        },
        remounted: Vec::new(),
        skipped: Vec::new(),
        notes: Vec::new(),
    }
}

fn evicted(path: &str, before: Reading<u64>, left: Reading<u64>) -> EvictedFile {
    let stayed = left.get().is_some_and(|left| left > 0);
    let process = MappingProcess { pid: 7, name: "sh".to_owned() };
    EvictedFile {
        path: path.to_owned(),
        pages: 50,
        before_pages: before,
        left_pages: left,
        dirty_pages: Reading::Value(0),
        mapped_by: if stayed { vec![process] } else { Vec::new() },
        reason: stayed.then(|| "mapped by sh (7)".to_owned()),
    }
}

#[test]
fn what_left_and_what_stayed_are_told_with_the_reason() {
    let files = vec![
        evicted("/bin/gone", Reading::Value(30), Reading::Value(0)),
        evicted("/lib/libc.so", Reading::Value(40), Reading::Value(10)),
        evicted("/bin/other", hidden(), hidden()),
    ];
    let shown = eviction_view(&eviction(files.clone(), EvictionLevel::File), &STYLE, false);
    for part in [
        "60 pages of 2 files evicted (240.0 KiB); 10 (40.0 KiB) left in memory.",
        "1 other file was evicted, too, as far as nobody uses them: what stayed is not known.",
        "  /lib/libc.so      40    10  50  mapped by sh (7)",
        "some of the files are mapped by sh; what 3 processes map that this user may not look into is unknown",
        "2.0 MiB of blocks of file systems, 1,000 names and 500 inodes",
    ] {
        let flat = shown.replace("\n      ", " ").replace('\n', " ");
        assert!(shown.contains(part) || flat.contains(part), "{part:?} is not in\n{shown}");
    }
    assert!(!shown.contains("/bin/gone"));
    let none = eviction_view(&eviction(files[2..].to_vec(), EvictionLevel::Drop), &STYLE, false);
    let words =
        "was dropped. 1 file was evicted as far as nobody uses their pages; what stayed is not";
    assert!(none.replace('\n', " ").contains(words), "{none}");
}
