//! What is known without root: page faults, and the files that a launch opens.

use super::{Found, faults, is_without_storage};
use model::{FileCall, FileOperation, LookedUpPath, text};
use os::LaunchError;
use os::cache::ObservedFiles;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Files that are opened and not mapped are taken as a whole up to this size; of larger ones the
/// beginning is.
const WHOLE_BYTES: u64 = 256 << 10;
const BEGINNING_BYTES: u64 = 128 << 10;
/// More paths than any launch looks up.
const MOST_PATHS: usize = 20_000;

/// What two launches told.
pub(super) struct OpenedFiles {
    pub(super) found: Found,
    pub(super) looked_up: Vec<LookedUpPath>,
    pub(super) total_us: f64,
    pub(super) notes: Vec<String>,
}

/// # Errors
/// The refusal, where page faults may not be recorded.
pub(super) fn record(observed: ObservedFiles) -> Result<OpenedFiles, LaunchError> {
    let faults = observed.faults?;
    let mut found = faults::touched(&faults);
    let mut notes = vec![
        "the pages are those around page faults of a warm launch, so some were not needed and \
         some are missing; root records exactly"
            .to_owned(),
    ];
    if faults.lost > 0 {
        notes.push(format!(
            "the kernel dropped {} records, so pages are missing; record again",
            faults.lost
        ));
    }
    found.retain(|path, _| is_on_disk(path));
    let names: Vec<String> = observed.files.files.iter().map(text::text).collect();
    let calls = match observed.calls {
        Ok(calls) => calls,
        Err(error) => {
            notes.push(format!("files that are only read are missing: {error}"));
            Vec::new()
        }
    };
    for path in &names {
        add_opened(&mut found, path, first_call(&calls, path));
    }
    let looked_up = looked_up(&calls, &names);
    Ok(OpenedFiles { found, looked_up, total_us: faults.total_us, notes })
}

fn is_on_disk(path: &str) -> bool {
    let path = PathBuf::from(text::name(path));
    path.is_file() && !os::host::is_always_in_memory(&path)
}

/// When a path was opened first; 0 for what the kernel opens.
fn first_call(calls: &[FileCall], path: &str) -> f64 {
    calls.iter().find(|call| call.path == path).map_or(0.0, |call| call.at_us)
}

/// The first page of a file that is mapped, which is read to learn what to map; of any other file
/// as much as programs tend to read.
fn add_opened(found: &mut Found, path: &str, at_us: f64) {
    if !is_on_disk(path) {
        return;
    }
    let Ok(data) = Path::new(&text::name(path)).metadata() else { return };
    let bytes = match (found.contains_key(path), data.len()) {
        (true, _) => 1,
        (false, size) if size <= WHOLE_BYTES => size,
        (false, _) => BEGINNING_BYTES,
    };
    let pages = found.entry(path.to_owned()).or_default();
    (0..bytes.div_ceil(os::residency::page_bytes())).for_each(|page| pages.touch(page, at_us));
}

/// The absolute paths that were looked up, each once, in order, without those of `files`, which are
/// opened anyway.
pub(super) fn looked_up(calls: &[FileCall], files: &[String]) -> Vec<LookedUpPath> {
    let mut seen: HashSet<&str> = files.iter().map(String::as_str).collect();
    let mut paths = Vec::new();
    for call in calls {
        let of_interest = call.path.starts_with('/')
            && call.operation != FileOperation::ReadFolder
            && !is_without_storage(&call.path);
        if of_interest && paths.len() < MOST_PATHS && seen.insert(&call.path) {
            paths.push(LookedUpPath { path: call.path.clone(), found: call.error == 0 });
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_listed_once_and_those_of_files_are_not() {
        let call = |path: &str, error| FileCall {
            pid: 1,
            at_us: 1.0,
            operation: FileOperation::Open,
            path: path.to_owned(),
            error,
        };
        let calls =
            [call("/x", 2), call("/a", 0), call("rel", 0), call("/proc/self", 0), call("/x", 2)];
        let found = looked_up(&calls, &["/a".to_owned()]);
        assert_eq!(found, [LookedUpPath { path: "/x".to_owned(), found: false }]);
        assert_eq!(first_call(&calls, "/a"), 1.0);
    }

    #[test]
    fn small_files_are_taken_as_a_whole() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, vec![1; 20_000]).unwrap();
        let name = text::text(&path);
        if !is_on_disk(&name) {
            return testkit::skip("/var/tmp is in memory");
        }
        let mut found = Found::new();
        add_opened(&mut found, &name, 3.0);
        assert_eq!(found[&name].iter().count(), 5);
        found.clear();
        std::fs::write(&path, vec![1; 300 << 10]).unwrap();
        add_opened(&mut found, &name, 3.0);
        assert_eq!(found[&name].iter().count(), 32);
    }
}
