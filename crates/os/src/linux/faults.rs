//! The page faults of a launch, each with its address, from perf events.
//!
//! Software events for minor and major faults are opened on every CPU that the launch may use
//! and inherited by all its processes; they begin at the launched program's execve. Nothing is
//! stopped and nothing runs in the program. An ordinary user sees the faults of user-mode
//! instructions (at `kernel.perf_event_paranoid` ≤ 2); root also those of system calls, and the
//! pages that the launch brought into the page cache, by file.
//!
//! Compared with `ru_minflt` and `ru_majflt` some faults have no event: those before execve, and
//! those that the kernel takes on the program's behalf without an instruction (execve writing
//! the arguments to the new stack, `get_user_pages`): a handful for each execve.

mod cost;
mod names;
mod prices;
mod reads;

pub use cost::minor_fault_cost_us;
pub(crate) use names::FileNames;
pub use prices::memory_prices;

use super::attend::{AttendOptions, attend, on_own_thread, unwatched};
use super::error::LaunchError;
use super::launcher::{LaunchRecord, Source};
use super::perf::{self, Attr, EventKind, Record, Rings, Scope};
use model::{Command, Ending, FaultTotals, Launch, PageFaults, Reading};
use reads::{Reads, Tracepoints};
use std::io;
use std::os::fd::RawFd;

/// What is refused where perf events are, in words.
const MECHANISM: &str = "recording page faults with perf events";

/// Launches `command` and records its page faults and file mappings, and as root the bytes that
/// it read from storage by file; files without a path are described in brackets. stdin, stdout
/// and stderr are `/dev/null`.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where perf events are refused: [`totals`] works regardless.
pub fn record(command: &Command, options: &AttendOptions) -> Result<PageFaults, LaunchError> {
    record_with_launch(command, options).map(|(faults, _)| faults)
}

/// [`record`], and how the launch ended.
///
/// # Errors
/// As [`record`].
pub fn record_ended(
    command: &Command,
    options: &AttendOptions,
) -> Result<(PageFaults, Ending), LaunchError> {
    record_with_launch(command, options).map(|(faults, launch)| (faults, launch.ending))
}

/// [`record`], and what the kernel counted.
fn record_with_launch(
    command: &Command,
    options: &AttendOptions,
) -> Result<(PageFaults, Launch), LaunchError> {
    let cpus = perf::cpus(options);
    on_own_thread(options, || {
        let mut recorder = Recorder::open(&cpus)?;
        let once = attend(command, &[], None, options, &mut recorder)?;
        Ok((recorder.finish(&once), once.launch))
    })
}

/// Launches `command` and gives the faults and reads that the kernel counted for it and for the
/// children it waited for, but for no others. Needs no permission.
///
/// # Errors
/// Where the program cannot be started.
pub fn totals(command: &Command, options: &AttendOptions) -> Result<FaultTotals, LaunchError> {
    let launch = unwatched(command, options)?.launch;
    Ok(FaultTotals {
        minor: launch.minor_faults,
        major: launch.major_faults,
        read_bytes: launch.read_bytes,
        anonymous: match perf::scope(MECHANISM) {
            Ok(_) => Reading::unavailable("the kernel's totals have no addresses", ""),
            Err(error) => Reading::unavailable(error.to_string(), ""),
        },
    })
}

/// Whether [`record`] can tell which files a launch reads from storage.
///
/// # Errors
/// The kernel's answer: only root may, by default.
pub fn reads_by_file_permitted() -> io::Result<()> {
    Tracepoints::open(perf::permitted()?).map(|_| ())
}

/// Which of the opened events is which.
const MAJOR: usize = 1;
const ADDED: usize = 2;
const DIRTIED: usize = 3;

struct Recorder {
    rings: Rings,
    scope: Scope,
    /// Present where reads by file are recorded.
    points: io::Result<Tracepoints>,
    found: Found,
}

/// What the records said.
#[derive(Default)]
struct Found {
    records: Vec<Record>,
    faults: Vec<(u64, model::PageFault)>,
    reads: Reads,
    lost: u64,
}

impl Recorder {
    fn open(cpus: &[u32]) -> Result<Recorder, LaunchError> {
        let scope = perf::scope(MECHANISM)?;
        let points = Tracepoints::open(scope);
        let mut attrs = vec![
            Attr::new(EventKind::MinorFaults, scope).with_processes(),
            Attr::new(EventKind::MajorFaults, scope),
        ];
        if let Ok(points) = &points {
            attrs.extend(points.attrs(scope));
        }
        let rings = perf::open(&attrs, cpus)?;
        Ok(Recorder { rings, scope, points, found: Found::default() })
    }

    fn finish(mut self, once: &LaunchRecord) -> PageFaults {
        self.found.faults.sort_by_key(|(at_ns, _)| *at_ns);
        let at_us = |ns: u64| once.at_us(ns);
        let names = FileNames::from_mappings(&self.found.records);
        let faults = self.found.faults.into_iter();
        PageFaults {
            total_us: once.launch.total_us,
            pid: once.pid,
            source: match self.scope {
                Scope::User => "perf page-fault events, user mode only".to_owned(),
                Scope::UserAndKernel => "perf page-fault events".to_owned(),
            },
            mappings: perf::mappings(self.found.records, at_us),
            faults: faults
                .map(|(at_ns, fault)| model::PageFault { at_us: at_us(at_ns), ..fault })
                .collect(),
            read_bytes_by_file: match self.points {
                Ok(_) => Reading::Value(names.apply(self.found.reads.by_file())),
                Err(error) => Reading::unavailable(
                    format!("reads by file need root's page-cache tracepoint ({error})"),
                    "run headstart as root",
                ),
            },
            read_bytes: once.launch.read_bytes.clone(),
            lost: self.found.lost,
        }
    }
}

impl Source for Recorder {
    fn descriptors(&self) -> Vec<RawFd> {
        self.rings.descriptors()
    }

    fn drain(&mut self) -> bool {
        let (found, points) = (&mut self.found, self.points.as_ref().ok());
        self.rings.drain(|record, place| found.take(record, place, points));
        false
    }
}

impl Found {
    fn take(&mut self, record: Record, place: Option<usize>, points: Option<&Tracepoints>) {
        match (record, points) {
            (Record::Sample { raw, .. }, Some(points)) if place == Some(ADDED) => {
                self.reads.add(points, &raw);
            }
            (Record::Sample { raw, .. }, Some(points)) if place == Some(DIRTIED) => {
                self.reads.dirty(points, &raw);
            }
            (Record::Sample { pid, at_ns, address, .. }, _) => {
                let major = place == Some(MAJOR);
                self.faults.push((at_ns, model::PageFault { pid, at_us: 0.0, address, major }));
            }
            (Record::Lost(count), _) => self.lost += count,
            (record, _) => self.records.push(record),
        }
    }
}

#[cfg(test)]
mod tests;
