//! A cold launch of which each page that enters memory is known.

use super::{Found, RecordRequest, Recorded, faults, opened, recording};
use model::{Command, Ending, FilePages, Reading, Recording, RecordingMode, TouchedFile};
use os::LaunchError;
use os::attend::AttendOptions;
use os::cache::ObservedFiles;
use os::file_pages::{self, HeldFiles, PagesRequest};
use std::collections::HashSet;
use std::ops::Range;

/// A launch may take so many times as long without read-ahead: it waits for each single page.
const SLOWER: u32 = 6;

/// Records the pages of the observed files, without read-ahead if it says what becomes of held files.
///
/// # Errors
/// As [`file_pages::record`].
pub(super) fn record(
    command: &Command,
    observed: &ObservedFiles,
    request: &RecordRequest,
    held: Option<HeldFiles>,
) -> Result<Cold, LaunchError> {
    let with_read_ahead = held.is_none();
    let limit = request.first.saturating_mul(if with_read_ahead { 1 } else { SLOWER });
    let request = PagesRequest {
        until: request.until.clone(),
        first: Some(limit),
        with_read_ahead,
        held: held.unwrap_or(HeldFiles::Used),
        options: AttendOptions { timeout: limit, cpu: request.cpu, to_entry: false },
    };
    file_pages::record(command, &observed.files.files, &request).map(Cold)
}

/// What the cold launch touched.
pub(super) struct Cold(FilePages);

impl Cold {
    pub(super) fn recorded(
        self,
        command: &Command,
        observed: &ObservedFiles,
        mode: RecordingMode,
        mut notes: Vec<String>,
    ) -> Recorded {
        let pages = self.0;
        // Where pages were in memory already, the page faults of the first launch tell more.
        let around = observed.faults.as_ref().map(faults::touched).unwrap_or_default();
        let mut found = Found::new();
        let mut approximate_files = 0;
        for file in distinct(&pages) {
            let touched = found.entry(file.path.clone()).or_default();
            for page in file.touched.value().into_iter().flatten() {
                touched.touch(page.page, page.at_us);
            }
            let unknown = unknown(file);
            approximate_files += u64::from(!unknown.is_empty() && file.pages > 0);
            match around.get(&file.path) {
                Some(likely) => {
                    for (page, at_us) in likely.iter().filter(|(page, _)| holds(&unknown, *page)) {
                        touched.touch(page, at_us);
                    }
                }
                // It is not mapped, so reads of it are no page faults: each may have been needed.
                None => within(&unknown, file.pages).for_each(|page| touched.touch(page, 0.0)),
            }
        }
        notes.extend(self::notes(&pages));
        if pages.ending == Ending::TimedOut {
            notes.push(format!(
                "the launch was ended after {:.0} s; what it would have read later is missing",
                pages.total_us / 1e6
            ));
        }
        let looked_up = match &observed.calls {
            Ok(calls) => opened::looked_up(calls, &pages_paths(&pages)),
            Err(error) => {
                notes.push(format!("the paths that the launch looks up are missing: {error}"));
                Vec::new()
            }
        };
        let recording = recording(command, mode, pages.total_us, (found, looked_up, notes));
        let recording = Recording { approximate_files, ..recording };
        Recorded { recording, ending: Some(pages.ending) }
    }
}

/// The files without those that are named twice: on an overlay, and in the layer below. A page has its
/// place among all pages only once.
fn distinct(pages: &FilePages) -> Vec<&TouchedFile> {
    let mut seen = HashSet::new();
    let first = |file: &&TouchedFile| {
        file.touched.value().and_then(|touched| touched.first()).map(|page| page.order)
    };
    pages.files.iter().filter(|file| first(file).is_none_or(|order| seen.insert(order))).collect()
}

/// Pages of ranges that lie within the file.
fn within(ranges: &[Range<u64>], pages: u64) -> impl Iterator<Item = u64> {
    ranges.iter().flat_map(move |range| range.start.min(pages)..range.end.min(pages))
}

fn pages_paths(pages: &FilePages) -> Vec<String> {
    pages.files.iter().map(|file| file.path.clone()).collect()
}

/// Pages of which the cold launch tells nothing, in order.
fn unknown(file: &TouchedFile) -> Vec<Range<u64>> {
    match &file.touched {
        // What is always in memory needs no reading.
        Reading::Unavailable { .. } if is_in_memory_always(file) => Vec::new(),
        Reading::Unavailable { .. } => std::iter::once(0..u64::MAX).collect(),
        Reading::Value(_) => {
            let mut unknown = file.in_memory.clone();
            unknown.extend(file.by_others.iter().cloned());
            unknown.sort_by_key(|range| range.start);
            unknown
        }
    }
}

fn is_in_memory_always(file: &TouchedFile) -> bool {
    let path = std::path::PathBuf::from(model::text::name(&file.path));
    os::host::is_always_in_memory(&path)
}

fn holds(ranges: &[Range<u64>], page: u64) -> bool {
    ranges.iter().any(|range| range.contains(&page))
}

/// What is not known, and why.
fn notes(pages: &FilePages) -> Vec<String> {
    let files =
        |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let mut notes = Vec::new();
    let known = pages.files.iter().filter(|file| file.touched.value().is_some());
    let held = known.filter(|file| !file.in_memory.is_empty() || !file.by_others.is_empty());
    let held = held.count();
    if held > 0 {
        notes.push(format!(
            "pages of {} were in memory because other programs use them: which \
             of these the launch needs is taken from its page faults, to 64 KiB; of files that it \
             does not map, all of them are in the recording",
            files(held)
        ));
    }
    if let Some((path, reason)) = pages.not_copied.first() {
        let many = pages.not_copied.len();
        let copies = if many == 1 { "no copy" } else { "no copies" };
        notes.push(format!(
            "{copies} could take the place of {} for the recorded launch: '{path}': {reason}",
            files(many)
        ));
    }
    let unknown = pages.files.iter().filter(|file| file.touched.value().is_none());
    let unknown = unknown.filter(|file| file.pages > 0 && !is_in_memory_always(file)).count();
    if unknown > 0 {
        notes.push(format!(
            "the pages of {} are taken from page faults, to 64 KiB: what their file systems read \
             cannot be recorded page by page, or all of it stayed in memory",
            files(unknown)
        ));
    }
    if pages.other_files > 0 {
        notes.push(format!(
            "{} pages of {} are not in the recording: the launches before did not use these files, \
             or the launch wrote them",
            pages.other_pages,
            files(pages.other_files as usize)
        ));
    }
    if pages.lost > 0 {
        notes.push(format!(
            "the kernel dropped {} records, so pages are missing; record again",
            pages.lost
        ));
    }
    notes
}
