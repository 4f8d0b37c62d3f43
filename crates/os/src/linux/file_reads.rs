//! The reads that a cold launch makes of chosen files: each with its place, its size, and how
//! long the device took.
//!
//! Tracepoints tell which pages enter the page cache, and which reads the block layer is asked
//! for. Both happen in the thread that needs the pages, one after the other, so it is known which
//! part of which file a read fills, whatever lies between the file and the device. The end of a
//! read is told on any CPU, while the launch waits, so the ends are recorded for the whole machine.
//! Nothing is stopped and nothing runs in the program.
//!
//! All of it needs root. What comes from no block device (network file systems, FUSE) enters
//! memory without a read that could be seen.

mod assign;
mod major;
mod points;
mod watched;

use super::attend::{AttendOptions, attend, on_own_thread};
use super::cache;
use super::error::LaunchError;
use super::faults::FileNames;
use super::host;
use super::launcher::{LaunchRecord, Source};
use super::perf::{self, Attr, EventKind, Record, Rings};
use assign::{Assigned, Happening, Read, Unwatched};
use major::MajorFaults;
use model::{
    CacheState, ColdCheck, Command, FileRead, FileReads, OtherReads, ReadFile, Reading, text,
};
use points::{Completions, Points, completed};
use std::collections::HashSet;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use watched::WatchedFile;

/// What is refused where tracepoints are, in words.
const MECHANISM: &str = "recording the reads of files";

/// Evicts `files`, launches `command`, and records what it reads of them. stdin, stdout and
/// stderr are `/dev/null`.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where the kernel's tracepoints are refused, as they are to
/// everybody but root. Otherwise where a file cannot be opened or the program not be started.
pub fn record(
    command: &Command,
    files: &[PathBuf],
    options: &AttendOptions,
) -> Result<FileReads, LaunchError> {
    record_from(command, files, options, true)
}

/// [`record`] of a launch that finds in memory whatever is there.
///
/// # Errors
/// As [`record`].
pub fn record_warm(
    command: &Command,
    files: &[PathBuf],
    options: &AttendOptions,
) -> Result<FileReads, LaunchError> {
    record_from(command, files, options, false)
}

fn record_from(
    command: &Command,
    files: &[PathBuf],
    options: &AttendOptions,
    is_cold: bool,
) -> Result<FileReads, LaunchError> {
    let cpus = perf::cpus(options);
    on_own_thread(options, || {
        let files = files.iter().map(|path| WatchedFile::open(path));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let mut recorder = Recorder::open(&cpus)?;
        let evicted = evict(&files, is_cold);
        let completions = Completions::record().map_err(refused)?;
        // Others may have read the files since, so the last look is right before the launch.
        let cold = in_memory(&files, evicted.state);
        let once = attend(command, &[], None, options, &mut recorder)?;
        let failed = LaunchError::failed("reading the kernel's trace", "try again");
        let trace = completions.finish().map_err(failed)?;
        recorder.found.happenings.extend(completed(&trace));
        recorder.found.lost += trace.lost;
        let after = in_memory(&files, cold.state).resident_pages;
        Ok(recorder.found.finish(&once, cold, &after, &files))
    })
}

fn refused(error: io::Error) -> LaunchError {
    LaunchError::NotPermitted {
        mechanism: MECHANISM,
        reason: format!("the kernel refuses its tracepoints ({error}); run headstart as root"),
    }
}

/// Whether [`record`] is permitted.
///
/// # Errors
/// The kernel's answer: only root may, by default.
pub fn permitted() -> io::Result<()> {
    Points::open(perf::permitted()?)?;
    Completions::record().map(|_| ())
}

fn evict(files: &[WatchedFile], is_cold: bool) -> ColdCheck {
    match is_cold {
        true => cache::emptied_of(&distinct(files)),
        false => in_memory(files, CacheState::Warm),
    }
}

fn in_memory(files: &[WatchedFile], state: CacheState) -> ColdCheck {
    cache::check(&distinct(files), state)
}

/// Each file once: the pages of a file are the same by all its names.
fn distinct(files: &[WatchedFile]) -> Vec<&Path> {
    let mut seen = HashSet::new();
    let is_new = |file: &&WatchedFile| match file.path.metadata() {
        Ok(data) => seen.insert((data.dev(), data.ino())),
        Err(_) => true,
    };
    files.iter().filter(is_new).map(|file| file.path.as_path()).collect()
}

/// Pages that were not there before, and that the launch has not read itself.
fn brought(before: &Reading<u64>, after: &Reading<u64>, files: &[ReadFile]) -> Reading<u64> {
    let own: u64 = files.iter().map(|file| file.pages).sum();
    match (before, after) {
        (Reading::Value(before), Reading::Value(after)) => {
            Reading::Value(after.saturating_sub(before.saturating_add(own)))
        }
        (Reading::Value(_), missing) | (missing, _) => missing.clone(),
    }
}

/// Which of the launch's own events is which.
const FAULT: usize = 0;

struct Recorder {
    rings: Rings,
    points: Points,
    found: Found,
}

/// What the records said.
#[derive(Default)]
struct Found {
    happenings: Vec<Happening>,
    faults: MajorFaults,
    lost: u64,
}

impl Recorder {
    fn open(cpus: &[u32]) -> Result<Recorder, LaunchError> {
        let scope = perf::scope(MECHANISM)?;
        let points = Points::open(scope).map_err(refused)?;
        let faults = Attr::new(EventKind::MajorFaults, scope).with_processes();
        let own: Vec<Attr> = std::iter::once(faults).chain(points.own(scope)).collect();
        Ok(Recorder { rings: perf::open(&own, cpus)?, points, found: Found::default() })
    }
}

impl Source for Recorder {
    fn descriptors(&self) -> Vec<RawFd> {
        self.rings.descriptors()
    }

    fn drain(&mut self) -> bool {
        let (found, points) = (&mut self.found, &self.points);
        self.rings.drain(|record, place| match (record, place) {
            (Record::Lost(count), _) => found.lost += count,
            (record @ Record::Sample { .. }, Some(place)) if place != FAULT => {
                found.happenings.extend(points.own_happening(&record, place - FAULT - 1));
            }
            (record, _) => found.faults.take(record),
        });
        false
    }
}

impl Found {
    fn finish(
        mut self,
        once: &LaunchRecord,
        cold: ColdCheck,
        after: &Reading<u64>,
        files: &[WatchedFile],
    ) -> FileReads {
        // What was recorded before the launch is the launcher's.
        self.happenings.retain(|happening| happening.at_ns >= once.ticks);
        self.happenings.sort_by_key(|happening| happening.at_ns);
        let (assigned, besides) = assign::assign(&self.happenings, files);
        let faults = self.faults.by_path(once);
        let read_file = |(file, Assigned { pages, reads }): (&WatchedFile, Assigned)| {
            let path = text::text(&file.path);
            ReadFile {
                major_faults: faults.get(&path).copied().unwrap_or_default(),
                read_ahead_kib: host::read_ahead_kib(&file.path),
                pages,
                reads: reads.into_iter().map(|read| file_read(&read, once)).collect(),
                path,
            }
        };
        let files: Vec<ReadFile> = files.iter().zip(assigned).map(read_file).collect();
        FileReads {
            total_us: once.launch.total_us,
            brought_pages: brought(&cold.resident_pages, after, &files),
            cold,
            major_faults: once.launch.major_faults.clone(),
            files,
            others: others(besides),
            read_bytes: once.launch.read_bytes.clone(),
            ending: once.launch.ending,
            lost: self.lost,
        }
    }
}

fn others(besides: Unwatched) -> OtherReads {
    let names = FileNames::now();
    let named = besides.files.into_iter();
    let mut files: Vec<_> =
        named.map(|((device, inode), sum)| (names.name(device, inode), sum)).collect();
    files.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then_with(|| a.0.cmp(&b.0)));
    OtherReads { metadata: besides.metadata, files, unassigned: besides.unassigned }
}

fn file_read(read: &Read, once: &LaunchRecord) -> FileRead {
    let at_us = once.at_us(read.at_ns);
    let duration_us = read.done_ns.map_or_else(
        || Reading::unavailable("the launch ended before the device completed the read", ""),
        |done| Reading::Value(once.at_us(done) - at_us),
    );
    FileRead { at_us, duration_us, offset: read.offset, bytes: read.bytes }
}

#[cfg(test)]
mod tests;
