//! Calls on the file system summed up by folder.

use crate::elf::at_instant::{phase_at, program_at};
use crate::elf::background::lives;
use crate::elf::inputs::{Inputs, ReplayTimes};
use crate::names::folder;
use crate::phases::charge::segments;
use crate::time::ns;
use model::{FileCall, FileOperation, FileWork, FolderWork, Phase, PhaseTrace, Reading};
use std::collections::BTreeMap;

mod groups;

pub(crate) use groups::{groups, weight_of};

/// `EINVAL`: what readlink answers for a file that exists and is no symbolic link.
const NOT_A_LINK: i32 = 22;

/// Which figure a call counts to.
enum Kind {
    Open,
    Stat,
    Scan,
    Failed,
    Executed,
}

fn kind(call: &FileCall) -> Kind {
    match (call.operation, call.error) {
        (FileOperation::ReadLink, NOT_A_LINK) => Kind::Stat,
        (_, error) if error != 0 => Kind::Failed,
        (FileOperation::Open, _) => Kind::Open,
        (FileOperation::Stat | FileOperation::Access | FileOperation::ReadLink, _) => Kind::Stat,
        (FileOperation::ReadFolder, _) => Kind::Scan,
        (FileOperation::Execute, _) => Kind::Executed,
    }
}

/// File-system work of a launch, with what repeating it costs where that was measured.
pub(crate) fn work(
    trace: &Reading<PhaseTrace>,
    replay: &Reading<ReplayTimes>,
) -> Reading<FileWork> {
    let trace = match trace {
        Reading::Value(trace) => trace,
        Reading::Unavailable { reason, remedy } => return Reading::unavailable(reason, remedy),
    };
    let folders = by_folder(&trace.file_calls);
    let sum = |figure: fn(&FolderWork) -> u64| folders.iter().map(figure).sum();
    Reading::Value(FileWork {
        opens: sum(|work| work.opens),
        failed: sum(|work| work.failed),
        stats: sum(|work| work.stats),
        scans: sum(|work| work.scans),
        failed_us: replay.clone().map(|times| times.failed_us),
        stats_us: replay.clone().map(|times| times.stats_us),
        groups: groups(&folders),
        folders,
    })
}

/// The calls of programs for which `counts` holds, by the phase in which they were made, and in
/// each by folder.
pub(crate) fn by_phase(
    inputs: &Inputs,
    counts: impl Fn(&str) -> bool,
) -> BTreeMap<Phase, Vec<FolderWork>> {
    let Some(trace) = inputs.file_trace.value() else { return BTreeMap::new() };
    let lives = lives(inputs, trace);
    let segments = segments(trace, &lives);
    let mut calls: BTreeMap<Phase, Vec<&FileCall>> = BTreeMap::new();
    for call in &trace.file_calls {
        let at = ns(call.at_us);
        if counts(&program_at(inputs, &lives, call.pid, at)) {
            calls.entry(phase_at(&segments, at)).or_default().push(call);
        }
    }
    calls.into_iter().map(|(phase, calls)| (phase, by_folder(calls))).collect()
}

/// Folders by the number of calls, busiest first.
fn by_folder<'a>(calls: impl IntoIterator<Item = &'a FileCall>) -> Vec<FolderWork> {
    let mut folders: BTreeMap<&str, FolderWork> = BTreeMap::new();
    for call in calls {
        let name = match call.operation {
            FileOperation::ReadFolder => call.path.as_str(),
            _ => folder(&call.path),
        };
        let work = folders.entry(name).or_insert_with(|| FolderWork {
            folder: name.to_owned(),
            opens: 0,
            failed: 0,
            stats: 0,
            scans: 0,
        });
        match kind(call) {
            Kind::Open => work.opens += 1,
            Kind::Stat => work.stats += 1,
            Kind::Scan => work.scans += 1,
            Kind::Failed => work.failed += 1,
            Kind::Executed => {}
        }
    }
    let mut folders: Vec<FolderWork> =
        folders.into_values().filter(|work| calls_in(work) > 0).collect();
    folders.sort_by(|a, b| calls_in(b).cmp(&calls_in(a)).then(a.folder.cmp(&b.folder)));
    folders
}

/// All calls counted for a folder.
fn calls_in(work: &FolderWork) -> u64 {
    work.opens + work.failed + work.stats + work.scans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(operation: FileOperation, path: &str, error: i32) -> FileCall {
        FileCall { pid: 1, at_us: 1.0, operation, path: path.to_owned(), error }
    }

    #[test]
    fn calls_count_once_to_their_folder() {
        use FileOperation::*;
        let calls = [
            call(Open, "/a/x", 0),
            call(Open, "/a/y", 2),
            call(Stat, "/a/z", 0),
            call(ReadLink, "/a/x", NOT_A_LINK),
            call(ReadLink, "/b/x", 2),
            call(ReadFolder, "/b", 0),
            call(Execute, "/bin/p", 0),
            call(Execute, "/sbin/p", 2),
        ];
        let trace = PhaseTrace {
            total_us: 1.0,
            processes: Vec::new(),
            stops: 0,
            cpuids: Reading::unavailable("", ""),
            file_calls: calls.to_vec(),
        };
        let replay = ReplayTimes {
            failed_us: 3.0,
            stats_us: 2.0,
            scans_us: Reading::unavailable("not repeated", ""),
        };
        let work = work(&Reading::Value(trace), &Reading::Value(replay));
        let work = work.value().unwrap();
        assert_eq!((work.opens, work.failed, work.stats, work.scans), (1, 3, 2, 1));
        assert_eq!(work.failed_us, Reading::Value(3.0));
        let names: Vec<&str> = work.folders.iter().map(|work| work.folder.as_str()).collect();
        assert_eq!(names, ["/a", "/b", "/sbin"]);
    }
}
