//! Recordings made up for tests.

use model::{FileRange, LookedUpPath, RecordedFile, RecordedIdentity, Recording, RecordingMode};
use std::path::Path;

pub(crate) const PAGE: u64 = 4096;

/// A file of 1000 pages; ranges in pages: first, count, time.
pub(crate) fn file(path: &str, ranges: &[(u64, u64, f64)]) -> RecordedFile {
    let identity = RecordedIdentity {
        device: 1,
        inode: 1,
        size_bytes: 1000 * PAGE,
        modified_ns: 7,
        build_id: None,
    };
    let range =
        |&(first, pages, _): &(u64, u64, f64)| FileRange::from((first * PAGE, pages * PAGE));
    RecordedFile {
        path: path.to_owned(),
        identity,
        ranges: ranges.iter().map(range).collect(),
        touched_us: ranges.iter().map(|range| range.2).collect(),
    }
}

pub(crate) fn recording(files: Vec<RecordedFile>) -> Recording {
    Recording {
        program: "/a".to_owned(),
        command: "a".to_owned(),
        mode: RecordingMode::Exact,
        approximate_files: 0,
        launches: 1,
        total_us: 1000.0,
        page_bytes: PAGE,
        files,
        looked_up: vec![LookedUpPath { path: "/x".to_owned(), found: false }],
        notes: Vec::new(),
    }
}

/// All of a real file, needed by a program.
pub(crate) fn of_file(program: &Path, command: &str, path: &Path) -> Recording {
    let identity = crate::identity::of(path).unwrap();
    let file = RecordedFile {
        path: model::text::text(path),
        ranges: vec![FileRange::from((0, identity.size_bytes))],
        identity,
        touched_us: vec![1.0],
    };
    let program = model::text::text(program);
    let command = command.to_owned();
    Recording { program, command, looked_up: Vec::new(), ..recording(vec![file]) }
}
