//! Launches a program and records what it reads.
//!
//! Two untimed launches show which files are used and which paths are looked up. Then, as far as
//! permitted, a cold launch without read-ahead tells exactly which pages are needed; else one with
//! read-ahead tells which pages enter memory; else the page faults of the first launch have to do.

mod exact;
mod faults;
mod opened;

use crate::identity;
use crate::pages::TouchedPages;
use model::{Command, Ending, LookedUpPath, RecordedFile, Recording, RecordingMode, Until, text};
use os::LaunchError;
use os::attend::AttendOptions;
use os::file_pages::HeldFiles;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long a launch may take that only finds the files, if it is not the end of the program that
/// makes a launch complete.
const FINDING: Duration = Duration::from_secs(5);

/// What is recorded, and how.
#[derive(Clone, Debug)]
pub struct RecordRequest {
    /// When a launch is complete.
    pub until: Until,
    /// At the latest after this time; the program is ended then.
    pub first: Duration,
    /// CPU to pin the launches to.
    pub cpu: Option<u32>,
    /// This way and no other; the most precise that is permitted, if none is given.
    pub mode: Option<RecordingMode>,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStep {
    /// Launches find the files.
    FindingFiles,
    /// A cold launch is recorded.
    ColdLaunch,
}

/// A recording, and how its last launch ended.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What was read.
    pub recording: Recording,
    /// How the launch ended; `None` if page faults of several launches were recorded.
    pub ending: Option<Ending>,
}

/// What is known of each file, by its path.
type Found = BTreeMap<String, TouchedPages>;

/// Records launches of `command`: three, or two where only page faults are permitted.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where not even page faults may be recorded, or not in the wanted
/// way; otherwise where the program cannot be started.
pub fn record(
    command: &Command,
    request: &RecordRequest,
    observer: &mut dyn FnMut(RecordStep),
) -> Result<Recorded, LaunchError> {
    let wants = |mode| request.mode.is_none_or(|wanted| wanted == mode);
    let permitted = os::file_pages::permitted();
    if request.mode.is_some_and(|wanted| wanted != RecordingMode::PageFaults) {
        os::file_pages::permitted()?;
    }
    observer(RecordStep::FindingFiles);
    let began = SystemTime::now();
    let observed = os::cache::observed_files(command, &finding(request))?;
    let mut notes = Vec::new();
    if permitted.is_ok() && wants(RecordingMode::Exact) {
        observer(RecordStep::ColdLaunch);
        let held = HeldFiles::Copied { unchanged_since: began };
        match exact::record(command, &observed, request, Some(held)) {
            Err(error @ LaunchError::NotPermitted { .. }) if request.mode.is_none() => {
                notes.push(format!(
                    "read-ahead stayed on, so pages that the kernel read ahead \
                                    are in the recording, too: {error}"
                ));
            }
            cold => return Ok(cold?.recorded(command, &observed, RecordingMode::Exact, notes)),
        }
    }
    if permitted.is_ok() && wants(RecordingMode::Tracepoints) {
        observer(RecordStep::ColdLaunch);
        let cold = exact::record(command, &observed, request, None)?;
        return Ok(cold.recorded(command, &observed, RecordingMode::Tracepoints, notes));
    }
    let launches = opened::record(observed)?;
    notes.extend(launches.notes);
    let paths = launches.looked_up;
    let recording = recording(
        command,
        RecordingMode::PageFaults,
        launches.total_us,
        (launches.found, paths, notes),
    );
    Ok(Recorded { recording, ending: None })
}

fn finding(request: &RecordRequest) -> AttendOptions {
    let limit = match request.until {
        Until::Exit => request.first,
        _ => request.first.min(FINDING),
    };
    AttendOptions { timeout: limit, cpu: request.cpu, to_entry: false }
}

/// Puts a recording together: files with pages, as they are now.
fn recording(
    command: &Command,
    mode: RecordingMode,
    total_us: f64,
    (found, looked_up, mut notes): (Found, Vec<LookedUpPath>, Vec<String>),
) -> Recording {
    let page_bytes = os::residency::page_bytes();
    let mut files = Vec::new();
    for (path, pages) in found.into_iter().filter(|(_, pages)| !pages.is_empty()) {
        let identity = match identity::of(Path::new(&text::name(&path))) {
            Ok(identity) => identity,
            Err(error) => {
                notes.push(format!("'{path}' is left out: {error}"));
                continue;
            }
        };
        let (ranges, touched_us) = pages.ranges(page_bytes, identity.size_bytes);
        if !ranges.is_empty() {
            files.push(RecordedFile { path, identity, ranges, touched_us });
        }
    }
    files.sort_by(|a, b| a.touched_us[0].total_cmp(&b.touched_us[0]));
    let program = command.program.canonicalize().unwrap_or_else(|_| command.program.clone());
    Recording {
        program: text::text(program),
        command: command.line(),
        mode,
        approximate_files: 0,
        launches: 1,
        total_us,
        page_bytes,
        files,
        looked_up,
        notes,
    }
}

/// Whether a path lies in one of the kernel's own file systems, which are on no disk.
fn is_without_storage(path: &str) -> bool {
    ["/dev/", "/proc/", "/sys/"].iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests;
