//! From a recording to requests: what is asked for, in which order, and what is looked at before.

use model::{Disk, Recording, text};
use os::prefetch::{AheadPlan, AheadRequest, AheadSample, LONGEST_REQUEST_BYTES, PlannedFile};
use std::collections::VecDeque;
use std::path::PathBuf;

/// Pages between two ranges that are read with them: fewer requests are worth more.
const GAP_PAGES: u64 = 4;
/// The same where bytes take longer.
const GAP_PAGES_SLOW: u64 = 3;
/// The same before a moving head, which passes over them in less time than a turn of the disk takes.
const GAP_PAGES_MOVING_HEAD: u64 = 32;
/// From so many requests that come next, the one is taken that suits the disk best.
const WINDOW: usize = 256;
/// How many places are looked at to see whether everything is in memory.
const SAMPLES: usize = 24;
/// What is read of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// What was recorded.
    Recorded,
    /// All of every file, one after the other, as OpenOffice's `pagein` does.
    WholeFiles,
}

/// What is asked for before a launch like the recorded one.
pub fn plan(recording: &Recording, amount: Amount, disk: Disk) -> AheadPlan {
    let files = recording.files.iter().map(|file| PlannedFile {
        path: PathBuf::from(text::name(&file.path)),
        size_bytes: file.identity.size_bytes,
        modified_ns: file.identity.modified_ns,
    });
    let requests = match amount {
        Amount::WholeFiles => whole_files(recording),
        Amount::Recorded => match disk {
            Disk::Flash => in_order(recording, GAP_PAGES),
            Disk::SlowFlash => mixed(in_order(recording, GAP_PAGES_SLOW)),
            Disk::MovingHead => in_order(recording, GAP_PAGES_MOVING_HEAD),
        },
    };
    let looked_up = recording.looked_up.iter();
    AheadPlan {
        files: files.collect(),
        samples: samples(&requests),
        requests,
        looked_up: match amount {
            Amount::Recorded => {
                looked_up.map(|looked| PathBuf::from(text::name(&looked.path))).collect()
            }
            Amount::WholeFiles => Vec::new(),
        },
        in_disk_order: amount == Amount::Recorded && disk == Disk::MovingHead,
        parallel: amount == Amount::Recorded,
    }
}

/// Requests for the recorded ranges, in order of first touch.
fn in_order(recording: &Recording, gap_pages: u64) -> Vec<AheadRequest> {
    let gap_bytes = gap_pages * recording.page_bytes;
    let mut timed: Vec<(f64, AheadRequest)> = Vec::new();
    for (index, file) in recording.files.iter().enumerate() {
        let mut ranges: Vec<_> = file.ranges.iter().zip(&file.touched_us).collect();
        ranges.sort_by_key(|(range, _)| **range);
        let first = timed.len();
        for (range, &at_us) in ranges {
            // Only requests of this file are joined.
            if let Some((time, last)) = timed[first..].last_mut()
                && range.offset.0 <= last.offset + last.bytes + gap_bytes
                && range.end() - last.offset <= LONGEST_REQUEST_BYTES
            {
                last.bytes = range.end() - last.offset;
                *time = time.min(at_us);
                continue;
            }
            let pieces = AheadRequest::pieces(index, range.offset.0..range.end());
            timed.extend(pieces.map(|request| (at_us, request)));
        }
    }
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    timed.into_iter().map(|(_, request)| request).collect()
}

/// Large and small requests in turns, nearly in their order. A slow disk limits both how many requests it
/// answers in a second, and how many bytes: a series of small ones leaves bytes unused, one of
/// large ones requests. On a fast one the program would wait for what comes later than it needs it.
fn mixed(requests: Vec<AheadRequest>) -> Vec<AheadRequest> {
    let bytes: u64 = requests.iter().map(|request| request.bytes).sum();
    let mean = bytes / (requests.len() as u64).max(1);
    let mut mixed = Vec::with_capacity(requests.len());
    let mut rest = requests.into_iter();
    let [mut small, mut large] = [VecDeque::new(), VecDeque::new()];
    let mut above_mean = 0_i64;
    loop {
        for request in rest.by_ref().take(WINDOW - small.len() - large.len()) {
            if request.bytes > mean { large.push_back(request) } else { small.push_back(request) }
        }
        let next = match above_mean > 0 {
            true => small.pop_front().or_else(|| large.pop_front()),
            false => large.pop_front().or_else(|| small.pop_front()),
        };
        let Some(request) = next else { return mixed };
        above_mean += request.bytes as i64 - mean as i64;
        mixed.push(request);
    }
}

fn whole_files(recording: &Recording) -> Vec<AheadRequest> {
    let files = recording.files.iter().enumerate();
    files
        .flat_map(|(index, file)| AheadRequest::pieces(index, 0..file.identity.size_bytes))
        .collect()
}

/// Places spread over all requests, the first request's first.
fn samples(requests: &[AheadRequest]) -> Vec<AheadSample> {
    let count = requests.len().min(SAMPLES);
    let spread = (0..count).map(|number| requests[number * requests.len() / count]);
    spread.map(|request| AheadSample { file: request.file, offset: request.offset }).collect()
}

#[cfg(test)]
mod tests;
