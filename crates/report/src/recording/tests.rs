//! Views of recordings made up for the purpose.

use super::*;
use model::{FileRange, LookedUpPath, RecordedIdentity, Recording, SkippedAhead, StaleFile};

fn style() -> Style {
    Style { color: false, width: 80, unicode: true }
}

fn file(path: &str, pages: u64, of: u64) -> RecordedFile {
    let identity = RecordedIdentity {
        device: 1,
        inode: 2,
        size_bytes: of * 4096,
        modified_ns: 3,
        build_id: None,
    };
    RecordedFile {
        path: path.to_owned(),
        identity,
        ranges: vec![FileRange::from((0, pages * 4096))],
        touched_us: vec![250.0],
    }
}

fn report() -> RecordingReport {
    RecordingReport {
        schema: 1,
        headstart: "0".to_owned(),
        bytes: 11 * 4096,
        stale: vec![StaleFile { path: "/lib/x".to_owned(), reason: "it has changed".to_owned() }],
        recording: Recording {
            program: "/bin/a".to_owned(),
            command: "a -v".to_owned(),
            mode: RecordingMode::Exact,
            approximate_files: 0,
            launches: 1,
            total_us: 9000.0,
            page_bytes: 4096,
            files: vec![file("/bin/a", 1, 10), file("/lib/x", 10, 10)],
            looked_up: vec![LookedUpPath { path: "/y".to_owned(), found: false }],
            notes: vec!["a note".to_owned()],
        },
    }
}

#[test]
fn a_recording_is_shown_with_what_is_stale() {
    let shown = view(&report(), &style(), false);
    for part in [
        "44 KiB of 2 files read, recorded exactly",
        "(cold launch without read-ahead); 1\nother path looked up.",
        "  x       40  40  100.0 %",
        "  a        4  40   10.0 %",
        "  all 2   44  80   55.0 %",
        "a note",
        "'/lib/x': it has changed; record again",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
}

#[test]
fn the_list_numbers_recordings_and_says_what_is_wrong() {
    let good = RecordingEntry {
        path: "/c/a.record".to_owned(),
        file_bytes: 100,
        command: Some("a -v".to_owned()),
        mode: Some(RecordingMode::PageFaults),
        bytes: Some(4096),
        stale_files: Some(2),
        problem: None,
    };
    let bad = RecordingEntry {
        command: None,
        mode: None,
        bytes: None,
        stale_files: None,
        problem: Some("/c/b.record: it is damaged".to_owned()),
        path: "/c/b.record".to_owned(),
        file_bytes: 1,
    };
    let shown = list(&RecordingList { schema: 1, recordings: vec![good, bad] }, &style());
    for part in ["1  a -v", "by page faults", "2  b.record", "it is damaged"] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    let none = list(&RecordingList { schema: 1, recordings: Vec::new() }, &style());
    assert_eq!(none, "No recordings are kept.\n");
}

#[test]
fn what_was_read_ahead_is_said() {
    let mut report = AheadReport {
        schema: 1,
        command: "a".to_owned(),
        files: 2,
        was_in_memory: false,
        asked_bytes: 8192,
        requests: 3,
        without_memory: false,
        skipped: vec![SkippedAhead { path: "/x".to_owned(), reason: "it is gone".to_owned() }],
    };
    let shown = ahead(&report, &style());
    assert!(shown.starts_with("Asked for 8 KiB of 2 files in 3 requests."), "{shown}");
    assert!(shown.contains("'/x' was left alone: it is gone"), "{shown}");
    report.was_in_memory = true;
    assert!(ahead(&report, &style()).contains("nothing was read of 2 files"));
    (report.was_in_memory, report.without_memory) = (false, true);
    assert!(ahead(&report, &style()).contains("more than half of the available memory"));
}
