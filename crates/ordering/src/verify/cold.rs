//! The reads of cold launches, of the modules that were linked again.

use super::builds::ModulePair;
use super::{COLD_TIMEOUT, VerifyError, VerifyRequest, for_root};
use model::{Command, FileReads, ModuleChange, ReadFile, Reading, text};
use os::LaunchError;
use os::attend::AttendOptions;
use std::path::PathBuf;

/// Cold launches of each build whose reads are recorded, in turns; the median is shown.
const LAUNCHES: usize = 3;

/// What was recorded, or why nothing.
pub struct ColdReads(Result<[FileReads; 2], LaunchError>);

/// Records the reads of both builds.
///
/// # Errors
/// A launch failed. That recording is not permitted is no error.
pub fn record(request: &VerifyRequest, pairs: &[ModulePair]) -> Result<ColdReads, VerifyError> {
    let of_side = |side: usize| -> Vec<PathBuf> {
        pairs.iter().map(|pair| PathBuf::from(text::name(&pair.sides[side].path))).collect()
    };
    let builds = [(&request.old, of_side(0)), (&request.new, of_side(1))];
    match in_turns(builds, request) {
        Ok(reads) => Ok(ColdReads(Ok(reads))),
        Err(error @ LaunchError::NotPermitted { .. }) => Ok(ColdReads(Err(error))),
        Err(error) => Err(error.into()),
    }
}

/// Records what commands read of files, in turns: of each command the launch whose reads take the
/// median time.
///
/// # Errors
/// Recording is not permitted, or a launch failed.
pub fn in_turns<const N: usize>(
    commands: [(&Command, Vec<PathBuf>); N],
    request: &VerifyRequest,
) -> Result<[FileReads; N], LaunchError> {
    let cpu = request.recording.cpu;
    let options = AttendOptions { timeout: COLD_TIMEOUT, cpu, to_entry: false };
    let mut launches: [Vec<FileReads>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..LAUNCHES {
        for ((command, files), launches) in commands.iter().zip(&mut launches) {
            launches.push(os::file_reads::record(command, files, &options)?);
        }
    }
    Ok(launches.map(|mut launches| {
        launches.sort_by(|one, other| duration_us(one).total_cmp(&duration_us(other)));
        launches.swap_remove(launches.len() / 2)
    }))
}

/// Time of all reads.
pub fn duration_us(reads: &FileReads) -> f64 {
    reads.files.iter().map(read_us).sum()
}

fn read_us(file: &ReadFile) -> f64 {
    file.reads.iter().filter_map(|read| read.duration_us.get()).sum()
}

/// Bytes between successive reads of a file.
pub fn distance(file: &ReadFile) -> u64 {
    let pairs = file.reads.windows(2);
    pairs.map(|pair| (pair[0].offset.0 + pair[0].bytes).abs_diff(pair[1].offset.0)).sum()
}

impl ColdReads {
    /// The sum over the files of one build.
    pub fn sum(&self, side: usize, of: impl Fn(&ReadFile) -> u64) -> Reading<u64> {
        match &self.0 {
            Ok(builds) => Reading::Value(builds[side].files.iter().map(of).sum()),
            Err(error) => for_root(error),
        }
    }

    /// Time of all reads of one build.
    pub fn read_us(&self, side: usize) -> Reading<f64> {
        match &self.0 {
            Ok(builds) => Reading::Value(duration_us(&builds[side])),
            Err(error) => for_root(error),
        }
    }

    /// The reads of one build; none where they could not be recorded.
    pub fn list(&self, side: usize) -> Vec<ReadFile> {
        self.0.as_ref().map_or(Vec::new(), |builds| builds[side].files.clone())
    }

    /// What each module waits for.
    pub fn modules(&self, pairs: &[ModulePair]) -> Vec<ModuleChange> {
        let Ok([old, new]) = &self.0 else { return Vec::new() };
        let files = pairs.iter().zip(&old.files).zip(&new.files);
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
