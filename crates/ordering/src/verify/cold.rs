//! The reads of cold launches, of the modules that were linked again.

use super::builds::ModulePair;
use super::repeated::{Comparison, Repeated};
use super::{COLD_TIMEOUT, VerifyError, VerifyRequest, for_root};
use model::{Command, FileReads, ModuleChange, ReadFile, Reading, text};
use os::LaunchError;
use os::attend::AttendOptions;
use std::path::PathBuf;

/// Cold launches whose reads are recorded where nothing varies; the median is shown.
pub const LAUNCHES: usize = 3;

/// The launches of each build, in order of the time of their reads, or why nothing is known of them.
pub struct ColdReads(Reading<[Vec<FileReads>; 2]>);

/// Records the reads of so many launches of both builds.
///
/// # Errors
/// A launch failed. That recording is not permitted is no error.
pub fn record(
    request: &VerifyRequest,
    pairs: &[ModulePair],
    launches: usize,
) -> Result<ColdReads, VerifyError> {
    let of_side = |side: usize| -> Vec<PathBuf> {
        pairs.iter().map(|pair| PathBuf::from(text::name(&pair.sides[side].path))).collect()
    };
    let builds = [(&request.old, of_side(0)), (&request.new, of_side(1))];
    match in_turns(builds, request, launches) {
        Ok(reads) => Ok(ColdReads(were_cold(reads))),
        Err(error @ LaunchError::NotPermitted { .. }) => Ok(ColdReads(for_root(&error))),
        Err(error) => Err(error.into()),
    }
}

/// The launches, unless a part of the builds stayed in memory: nobody knows what would be read then.
fn were_cold(builds: [Vec<FileReads>; 2]) -> Reading<[Vec<FileReads>; 2]> {
    for (launches, which) in builds.iter().zip(["old", "new"]) {
        let resident = launches.iter().filter_map(|launch| launch.cold.resident_pages.get()).max();
        if let Some(pages) = resident.filter(|pages| *pages > 0) {
            return Reading::unavailable(
                format!(
                    "{pages} pages of the {which} build could not be evicted from memory: another \
                     process has mapped them, or their file system is in memory"
                ),
                "end that process, or put the builds on a disk",
            );
        }
    }
    Reading::Value(builds)
}

/// Records what commands read of files, in turns: the launches of each command, in order of the time
/// of their reads.
///
/// # Errors
/// Recording is not permitted, or a launch failed.
pub fn in_turns<const N: usize>(
    commands: [(&Command, Vec<PathBuf>); N],
    request: &VerifyRequest,
    times: usize,
) -> Result<[Vec<FileReads>; N], LaunchError> {
    let cpu = request.recording.cpu;
    let options = AttendOptions { timeout: COLD_TIMEOUT, cpu, to_entry: false };
    let mut launches: [Vec<FileReads>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..times {
        for ((command, files), launches) in commands.iter().zip(&mut launches) {
            launches.push(os::file_reads::record(command, files, &options)?);
        }
    }
    for launches in &mut launches {
        launches.sort_by(|one, other| duration_us(one).total_cmp(&duration_us(other)));
    }
    Ok(launches)
}

/// The launch whose reads take the median time.
pub fn median(launches: &[FileReads]) -> &[ReadFile] {
    launches.get(launches.len() / 2).map_or(&[], |launch| &launch.files)
}

/// Time of all reads.
fn duration_us(reads: &FileReads) -> f64 {
    added(reads.files.iter().map(read_us))
}

/// The sum, which is 0 and not -0 of nothing.
fn added(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// Time of its reads.
pub fn read_us(file: &ReadFile) -> f64 {
    added(file.reads.iter().filter_map(|read| read.duration_us.get()))
}

/// Bytes between successive reads of a file.
pub fn distance(file: &ReadFile) -> u64 {
    let pairs = file.reads.windows(2);
    pairs.map(|pair| (pair[0].offset.0 + pair[0].bytes).abs_diff(pair[1].offset.0)).sum()
}

impl ColdReads {
    /// The sum over the files of one build.
    pub fn sum(&self, side: usize, of: impl Fn(&ReadFile) -> u64) -> Reading<u64> {
        self.0.as_ref().map(|builds| median(&builds[side]).iter().map(of).sum())
    }

    /// Time of all reads of one build.
    pub fn read_us(&self, side: usize) -> Reading<f64> {
        self.0.as_ref().map(|builds| added(median(&builds[side]).iter().map(read_us)))
    }

    /// The reads of one build; none where they could not be recorded.
    pub fn list(&self, side: usize) -> Vec<ReadFile> {
        self.0.value().map_or(Vec::new(), |builds| median(&builds[side]).to_vec())
    }

    /// The number of reads in each launch, where they could be recorded.
    pub fn reads(&self) -> Option<Comparison> {
        let [old, new] = self.0.value()?;
        let reads = |launch: &FileReads| {
            launch.files.iter().map(|file| file.reads.len() as f64).sum::<f64>()
        };
        let repeated = |launches: &[FileReads]| Repeated::of(launches.iter().map(reads));
        Some(Comparison { what: "reads".to_owned(), old: repeated(old), new: repeated(new) })
    }

    /// What each module waits for.
    pub fn modules(&self, pairs: &[ModulePair]) -> Vec<ModuleChange> {
        let Reading::Value([old, new]) = &self.0 else { return Vec::new() };
        let files = pairs.iter().zip(median(old)).zip(median(new));
        let change = |((pair, old), new): ((&ModulePair, &ReadFile), &ReadFile)| ModuleChange {
            module: pair.name.clone(),
            major_faults_before: old.major_faults,
            major_faults_after: new.major_faults,
            read_us_before: read_us(old),
            read_us_after: read_us(new),
        };
        files.map(change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CacheState, ColdCheck};

    fn launch(resident: Reading<u64>) -> FileReads {
        FileReads {
            total_us: 1.0,
            cold: ColdCheck {
                state: CacheState::ColdEvicted,
                files: 1,
                total_pages: 9,
                resident_pages: resident,
            },
            major_faults: Reading::Value(0),
            lost: 0,
            files: Vec::new(),
        }
    }

    #[test]
    fn what_stayed_in_memory_has_no_reads() {
        let cold =
            || vec![launch(Reading::Value(0)), launch(Reading::unavailable("old kernel", ""))];
        let mapped = || vec![launch(Reading::Value(0)), launch(Reading::Value(3))];
        assert!(were_cold([cold(), cold()]).value().is_some());
        for (builds, which) in [([mapped(), cold()], "old"), ([cold(), mapped()], "new")] {
            let found = were_cold(builds);
            let words = format!("3 pages of the {which} build");
            assert!(found.reason().is_some_and(|reason| reason.starts_with(&words)), "{found:?}");
        }
        assert!(duration_us(&launch(Reading::Value(0))).is_sign_positive());
    }
}
