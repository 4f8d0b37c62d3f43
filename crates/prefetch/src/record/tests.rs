//! Recordings of a small program that reads a known part of a file.

use super::*;
use std::fs::File;
use std::path::PathBuf;

const READS: &str = r#"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char byte;
    int data = open(argv[1], O_RDONLY);
    access("/no/such/path/of-a-recording", F_OK);
    if (pread(data, &byte, 1, 40 * 4096) != 1 || pread(data, &byte, 1, 7 * 4096) != 1) return 1;
    char *mapped = mmap(0, 64 * 4096, PROT_READ, MAP_PRIVATE, data, 64 * 4096);
    return mapped == MAP_FAILED || *(volatile char *)(mapped + 32 * 4096) != 1;
}"#;

struct Subject {
    _folder: tempfile::TempDir,
    command: Command,
    data: PathBuf,
}

fn subject() -> Option<Subject> {
    let cc = testkit::tool("gcc")?;
    // Not in memory, as /tmp often is.
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let program = testkit::compile(&cc, folder.path(), "reads", READS, &[]);
    let data = folder.path().join("data");
    std::fs::write(&data, vec![1; 200 * 4096]).unwrap();
    for path in [&program, &data] {
        File::open(path).unwrap().sync_all().unwrap();
    }
    let command = os::program::resolve(&[program.as_os_str(), data.as_os_str()]).unwrap();
    Some(Subject { _folder: folder, command, data })
}

fn request(mode: RecordingMode) -> RecordRequest {
    let first = Duration::from_secs(20);
    RecordRequest { until: Until::Exit, first, cpu: None, mode: Some(mode) }
}

/// Pages of the data file in order of first touch; nothing where recording is refused.
fn pages(subject: &Subject, mode: RecordingMode) -> Option<Vec<u64>> {
    let recorded = match record(&subject.command, &request(mode), &mut |_| {}) {
        Err(LaunchError::NotPermitted { mechanism, reason }) => {
            testkit::skip(&format!("{mechanism}: {reason}"));
            return None;
        }
        recorded => recorded.unwrap(),
    };
    let recording = recorded.recording;
    assert_eq!(recording.mode, mode);
    assert!(crate::recording::read(&crate::recording::write(&recording)).is_ok());
    let missing = "/no/such/path/of-a-recording";
    assert!(recording.looked_up.iter().any(|looked| looked.path == missing && !looked.found));
    assert!(recording.files.iter().any(|file| file.path == recording.program));
    let file = recording.files.iter().find(|file| file.path == text::text(&subject.data))?;
    let pages = file.ranges.iter().flat_map(|range| range.offset.0 / 4096..range.end() / 4096);
    Some(pages.collect())
}

#[test]
fn an_exact_recording_has_the_touched_pages_and_no_others() {
    let Some(subject) = subject() else { return };
    if let Some(found) = pages(&subject, RecordingMode::Exact) {
        assert_eq!(found, [40, 7, 96]);
        assert_eq!(pages(&subject, RecordingMode::Exact).unwrap(), found);
    }
}

#[test]
fn an_exact_recording_is_exact_for_the_c_library_too() {
    let Some(subject) = subject() else { return };
    // This test has it mapped, so it does not leave memory.
    let record = || record(&subject.command, &request(RecordingMode::Exact), &mut |_| {});
    let recorded = |found: Result<Recorded, LaunchError>| match found {
        Err(LaunchError::NotPermitted { reason, .. }) => Err(reason),
        found => {
            let recording = found.unwrap().recording;
            let refused = recording.notes.iter().find(|note| note.contains("launch alone"));
            refused.cloned().map_or(Ok(recording), Err)
        }
    };
    let (first, second) = match (recorded(record()), recorded(record())) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(reason), _) | (_, Err(reason)) => return testkit::skip(&reason),
    };
    assert_eq!(first.approximate_files, 0, "{:?}", first.notes);
    let library = |recording: &Recording| {
        let mut files = recording.files.iter();
        let file = files.find(|file| file.path.contains("/libc.")).unwrap();
        (file.path.clone(), file.ranges.clone())
    };
    assert_eq!(library(&first), library(&second));
    let pages: u64 = library(&first).1.iter().map(|range| range.bytes / 4096).sum();
    let all = Path::new(&library(&first).0).metadata().unwrap().len() / 4096;
    assert!((10..all / 2).contains(&pages), "{pages} of {all}");
}

#[test]
fn other_recordings_have_those_pages_among_others() {
    let Some(subject) = subject() else { return };
    // The data file is taken for mapped only by its fault, so single reads of it are not known.
    for (mode, known) in
        [(RecordingMode::Tracepoints, &[40, 7, 96][..]), (RecordingMode::PageFaults, &[0, 96])]
    {
        if let Some(found) = pages(&subject, mode) {
            assert!(known.iter().all(|page| found.contains(page)), "{mode:?} {found:?}");
        }
    }
}
