//! Several recordings united: what any of the launches read.

use crate::pages::TouchedPages;
use model::{LookedUpPath, RecordedFile, Recording};
use std::collections::{BTreeMap, HashSet};
use thiserror::Error;

/// Why recordings cannot be united.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MergeProblem {
    /// There is nothing to unite.
    #[error("there is no recording to unite")]
    None,
    /// They come from machines with pages of different size.
    #[error("one was recorded with pages of {0} bytes and another with pages of {1} bytes")]
    PageSizes(u64, u64),
}

/// Unites recordings. Of a file that has changed between them, what was recorded of the newest is
/// kept. The first recording gives its program and command.
///
/// # Errors
/// There are none, or the sizes of their pages differ.
pub fn merge(recordings: Vec<Recording>) -> Result<Recording, MergeProblem> {
    let mut rest = recordings.into_iter();
    let mut united = rest.next().ok_or(MergeProblem::None)?;
    for next in rest {
        if next.page_bytes != united.page_bytes {
            return Err(MergeProblem::PageSizes(united.page_bytes, next.page_bytes));
        }
        let page_bytes = united.page_bytes;
        united.files = files(united.files, next.files, page_bytes, &mut united.notes);
        united.looked_up = looked_up(united.looked_up, next.looked_up);
        united.mode = united.mode.max(next.mode);
        united.approximate_files = united.approximate_files.max(next.approximate_files);
        united.launches = united.launches.saturating_add(next.launches);
        united.total_us = united.total_us.max(next.total_us);
        let known: HashSet<String> = united.notes.iter().cloned().collect();
        united.notes.extend(next.notes.into_iter().filter(|note| !known.contains(note)));
    }
    Ok(united)
}

fn files(
    old: Vec<RecordedFile>,
    new: Vec<RecordedFile>,
    page_bytes: u64,
    notes: &mut Vec<String>,
) -> Vec<RecordedFile> {
    let mut by_path: BTreeMap<String, RecordedFile> =
        old.into_iter().map(|file| (file.path.clone(), file)).collect();
    for file in new {
        match by_path.get_mut(&file.path) {
            None => drop(by_path.insert(file.path.clone(), file)),
            Some(known) if is_same(known, &file) => unite(known, &file, page_bytes),
            Some(known) => {
                notes.push(format!(
                    "'{}' is not the same file in all recordings: what was recorded of the older \
                     one is left out",
                    file.path
                ));
                if file.identity.modified_ns >= known.identity.modified_ns {
                    *known = file;
                }
            }
        }
    }
    let mut files: Vec<RecordedFile> = by_path.into_values().collect();
    let first = |file: &RecordedFile| file.touched_us.first().copied().unwrap_or(f64::MAX);
    files.sort_by(|a, b| first(a).total_cmp(&first(b)));
    files
}

/// By size and time, which is what is looked at before it is read ahead.
fn is_same(one: &RecordedFile, other: &RecordedFile) -> bool {
    let (one, other) = (&one.identity, &other.identity);
    (one.size_bytes, one.modified_ns) == (other.size_bytes, other.modified_ns)
}

fn unite(known: &mut RecordedFile, other: &RecordedFile, page_bytes: u64) {
    let mut pages = TouchedPages::of(known, page_bytes);
    for (page, at_us) in TouchedPages::of(other, page_bytes).iter() {
        pages.touch(page, at_us);
    }
    let (ranges, touched_us) = pages.ranges(page_bytes, known.identity.size_bytes);
    (known.ranges, known.touched_us) = (ranges, touched_us);
}

fn looked_up(mut old: Vec<LookedUpPath>, new: Vec<LookedUpPath>) -> Vec<LookedUpPath> {
    let known: HashSet<String> = old.iter().map(|looked| looked.path.clone()).collect();
    old.extend(new.into_iter().filter(|looked| !known.contains(&looked.path)));
    old
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{file, recording};
    use model::RecordingMode;

    #[test]
    fn ranges_and_paths_are_united() {
        let one = recording(vec![file("/a", &[(0, 2, 5.0), (9, 1, 6.0)])]);
        let mut two = recording(vec![file("/b", &[(3, 1, 1.0)]), file("/a", &[(1, 3, 2.0)])]);
        two.mode = RecordingMode::PageFaults;
        two.looked_up = vec![LookedUpPath { path: "/y".to_owned(), found: true }];
        let united = merge(vec![one, two]).unwrap();
        assert_eq!((united.launches, united.mode), (2, RecordingMode::PageFaults));
        let names: Vec<&str> = united.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["/b", "/a"]);
        let ranges: Vec<(u64, u64)> =
            united.files[1].ranges.iter().map(|range| (range.offset.0, range.bytes)).collect();
        assert_eq!(ranges, [(0, 4 * 4096), (9 * 4096, 4096)]);
        assert_eq!(united.looked_up.len(), 2);
    }

    #[test]
    fn a_recording_united_with_itself_reads_the_same() {
        let one = recording(vec![file("/a", &[(0, 2, 5.0), (9, 1, 6.0)])]);
        let twice = merge(vec![one.clone(), one.clone()]).unwrap();
        assert_eq!((twice.files, twice.looked_up), (one.files, one.looked_up));
    }

    #[test]
    fn of_a_changed_file_the_newest_is_kept() {
        let old = recording(vec![file("/a", &[(0, 2, 5.0)])]);
        let mut new = recording(vec![file("/a", &[(7, 1, 1.0)])]);
        new.files[0].identity.modified_ns += 1;
        let kept = new.files.clone();
        for order in [vec![old.clone(), new.clone()], vec![new, old]] {
            let united = merge(order).unwrap();
            assert_eq!(united.files, kept);
            assert!(united.notes[0].contains("'/a'"), "{:?}", united.notes);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(merge(Vec::new()), Err(MergeProblem::None));
        let one = recording(Vec::new());
        let other = Recording { page_bytes: 65536, ..one.clone() };
        assert_eq!(merge(vec![one, other]), Err(MergeProblem::PageSizes(4096, 65536)));
    }
}
