//! What was recorded, as pages of files in order of first touch.

use super::copies::Copies;
use super::watched::{CacheIdentity, WatchedPages};
use super::{Addition, Recorder};
use crate::linux::launcher::LaunchRecord;
use crate::linux::perf::is_unnamed;
use crate::linux::residency::page_bytes;
use model::{FilePages, TouchedFile, TouchedPage, text};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::Duration;

pub(super) struct Found {
    /// Of the launch, in order of time, also behind its completion.
    additions: Vec<Addition>,
    /// When the launch was complete.
    complete_us: f64,
    lost: u64,
}

impl Found {
    pub(super) fn of(
        mut recorder: Recorder,
        once: &LaunchRecord,
        first: Option<Duration>,
    ) -> Found {
        let mut additions = recorder.take();
        // What was recorded before the launch is the launcher's.
        additions.retain(|addition| addition.at_ns >= once.ticks);
        additions.sort_by_key(|addition| addition.at_ns);
        let first_us = first.map_or(f64::INFINITY, |first| first.as_secs_f64() * 1e6);
        let complete_us = once.launch.total_us.min(first_us);
        Found { additions, complete_us, lost: recorder.lost() }
    }

    pub(super) fn finish(
        &self,
        once: &LaunchRecord,
        files: Vec<WatchedPages>,
        copies: &Copies,
    ) -> FilePages {
        let watched: HashSet<CacheIdentity> =
            files.iter().filter_map(|file| file.identity().get()).collect();
        let mut touched: HashMap<CacheIdentity, Vec<TouchedPage>> = HashMap::new();
        let mut seen: HashSet<(CacheIdentity, u64)> = HashSet::new();
        let mut others: HashSet<(CacheIdentity, u64)> = HashSet::new();
        let mut order = 0;
        for Addition { at_ns, added } in &self.additions {
            let (identity, at_us) = ((added.device, added.inode), once.at_us(*at_ns));
            if !watched.contains(&identity) {
                // Blocks of file systems themselves are on no named device. What has a copy in its
                // place is read by the launcher, not by the launch.
                if !is_unnamed(added.device) && !copies.originals.contains(&identity) {
                    others.extend(added.pages.clone().map(|page| (identity, page)));
                }
                continue;
            }
            for page in added.pages.clone() {
                if seen.insert((identity, page)) && at_us <= self.complete_us {
                    let page = TouchedPage { page, order, at_us };
                    touched.entry(identity).or_default().push(page);
                    order += 1;
                }
            }
        }
        let other_files: HashSet<CacheIdentity> = others.iter().map(|(file, _)| *file).collect();
        let file = |file: WatchedPages| touched_file(file, &touched, &seen);
        FilePages {
            total_us: self.complete_us,
            ending: once.launch.ending,
            page_bytes: page_bytes(),
            files: files.into_iter().map(file).collect(),
            other_files: other_files.len() as u64,
            other_pages: others.len() as u64,
            lost: self.lost,
            not_copied: copies.missing_as_text(),
        }
    }
}

fn touched_file(
    file: WatchedPages,
    touched: &HashMap<CacheIdentity, Vec<TouchedPage>>,
    seen: &HashSet<(CacheIdentity, u64)>,
) -> TouchedFile {
    let by_others = match (file.identity().get(), file.resident()) {
        (Some(identity), Ok(now)) => by_others(identity, &now, &file.in_memory, seen),
        _ => Vec::new(),
    };
    TouchedFile {
        path: text::text(file.path()),
        pages: file.pages,
        touched: file.identity().map(|own| touched.get(&own).cloned().unwrap_or_default()),
        in_memory: file.in_memory,
        by_others,
    }
}

/// Pages that are in memory now, were not before, and were not brought there by the launch.
fn by_others(
    identity: CacheIdentity,
    now: &[Range<u64>],
    before: &[Range<u64>],
    seen: &HashSet<(CacheIdentity, u64)>,
) -> Vec<Range<u64>> {
    let mut found: Vec<Range<u64>> = Vec::new();
    let was = |page: u64| {
        let behind = before.partition_point(|range| range.end <= page);
        before.get(behind).is_some_and(|range| range.contains(&page))
    };
    for page in now.iter().cloned().flatten() {
        if seen.contains(&(identity, page)) || was(page) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == page => last.end += 1,
            _ => found.push(page..page + 1),
        }
    }
    found
}
