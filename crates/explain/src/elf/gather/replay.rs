//! Recorded look-ups, made again without a tracer to learn what they take.
//!
//! Only look-ups are repeated, never opens: opening a device or a pipe can have effects.

use crate::elf::inputs::ReplayTimes;
use model::{FileCall, FileOperation, PhaseTrace, Reading};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

/// Repetitions; the fastest counts, as the others were disturbed.
const TIMES: u32 = 3;
/// The C library reads folders in blocks of this size (glibc's opendir; musl's are smaller).
const LISTING_BLOCK_BYTES: usize = 32 * 1024;
/// A listing entry without its name: `struct linux_dirent64`, getdents64(2).
const ENTRY_BYTES: usize = 19;

/// What the calls of a file trace take when they are repeated, names being cached.
pub(super) fn times(file_trace: &Reading<PhaseTrace>) -> Reading<ReplayTimes> {
    let trace = match file_trace {
        Reading::Value(trace) => trace,
        Reading::Unavailable { reason, remedy } => {
            return Reading::unavailable(reason, remedy);
        }
    };
    let absolute = || trace.file_calls.iter().filter(|call| call.path.starts_with('/'));
    let looks = [FileOperation::Stat, FileOperation::Access, FileOperation::ReadLink];
    let failed: Vec<_> = absolute().filter(|call| call.error != 0).collect();
    let stats: Vec<_> =
        absolute().filter(|call| call.error == 0 && looks.contains(&call.operation)).collect();
    Reading::Value(ReplayTimes {
        failed_us: fastest(|| look_up(&failed)),
        stats_us: fastest(|| look_up(&stats)),
        scans_us: Reading::Value(scans(absolute())),
    })
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let times = (0..TIMES).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed().as_secs_f64() * 1e6
    });
    times.fold(f64::INFINITY, f64::min)
}

fn look_up(calls: &[&FileCall]) {
    for call in calls {
        if call.operation == FileOperation::ReadLink {
            let _ = black_box(std::fs::read_link(&call.path));
        } else {
            let _ = black_box(std::fs::metadata(&call.path));
        }
    }
}

/// Each folder is listed once more; its time counts for as many listings as were recorded.
fn scans<'a>(calls: impl Iterator<Item = &'a FileCall>) -> f64 {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for call in calls.filter(|call| call.error == 0 && call.operation == FileOperation::ReadFolder)
    {
        *folders.entry(&call.path).or_default() += 1;
    }
    folders
        .into_iter()
        .map(|(folder, calls)| {
            let reads = reads_of_one_listing(folder);
            calls as f64 / reads as f64 * fastest(|| _ = black_box(names(folder).count()))
        })
        .sum()
}

/// Calls that list a folder once, the last of which says that there is no more.
fn reads_of_one_listing(folder: &str) -> usize {
    // Entries are padded to eight bytes, the name's NUL included.
    let bytes: usize = names(folder).map(|length| (ENTRY_BYTES + length + 8) & !7).sum();
    bytes.div_ceil(LISTING_BLOCK_BYTES).max(1) + 1
}

/// Lengths of the names in a folder; none where it cannot be read now.
fn names(folder: &str) -> impl Iterator<Item = usize> + use<> {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().as_bytes().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(operation: FileOperation, path: &str, error: i32) -> FileCall {
        FileCall { pid: 1, at_us: 0.0, operation, path: path.to_owned(), error }
    }

    #[test]
    fn a_hundred_look_ups_take_longer_than_one_and_none_take_nothing() {
        let trace = |calls: Vec<FileCall>| {
            Reading::Value(PhaseTrace {
                total_us: 1.0,
                processes: Vec::new(),
                stops: 0,
                cpuids: Reading::unavailable("not counted", ""),
                file_calls: calls,
            })
        };
        let failed = |count| {
            let calls = vec![call(FileOperation::Open, "/no/such/folder/x", 2); count];
            times(&trace(calls)).value().unwrap().failed_us
        };
        assert!(failed(1000) > failed(1));
        let none = times(&trace(vec![call(FileOperation::Open, "/etc", 0)]));
        let none = none.value().unwrap();
        assert!(none.failed_us < 5.0 && none.stats_us < 5.0, "{none:?}");
        assert_eq!(none.scans_us, Reading::Value(0.0));
    }

    #[test]
    fn a_listing_is_read_in_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(reads_of_one_listing(path), 2);
        for index in 0..400 {
            let name = format!("{index:0>100}");
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        // 400 entries of 120 bytes.
        assert_eq!(reads_of_one_listing(path), 3);
        let twice = vec![call(FileOperation::ReadFolder, path, 0); 6];
        assert!(scans(twice.iter()) > 0.0);
    }
}
