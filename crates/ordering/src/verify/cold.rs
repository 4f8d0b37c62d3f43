//! The reads of cold launches, of the modules that were linked again.

use super::builds::ModulePair;
use super::coldness::of_check;
use super::repeated::{Comparison, Repeated};
use super::{COLD_TIMEOUT, VerifyError, VerifyRequest, for_root};
use model::{Command, FileReads, ModuleChange, ReadFile, Reading, text};
use os::LaunchError;
use os::attend::AttendOptions;
use std::path::PathBuf;

/// Cold launches whose reads are recorded where nothing varies; the median is shown.
pub const LAUNCHES: usize = 3;

/// The launches of each build, in order of the time of their reads, or why there are none.
pub struct ColdReads([Reading<Vec<FileReads>>; 2]);

/// Records the reads of so many launches of both builds.
///
/// # Errors
/// A launch failed. That recording is not permitted is no error, nor that files stay in memory.
pub fn record(
    request: &VerifyRequest,
    pairs: &[ModulePair],
    launches: usize,
) -> Result<ColdReads, VerifyError> {
    let [old, new] = files(pairs);
    let builds = [(&request.old, old), (&request.new, new)];
    Ok(ColdReads(in_turns(builds, request, launches)?))
}

/// The files of both builds.
pub fn files(pairs: &[ModulePair]) -> [Vec<PathBuf>; 2] {
    [0, 1].map(|side| {
        pairs.iter().map(|pair| PathBuf::from(text::name(&pair.sides[side].path))).collect()
    })
}

/// Records what commands read of files, in turns: the launches of each command, in order of the time
/// of their reads; or why nothing is known of them: recording is not permitted, or the files stay in
/// memory.
///
/// # Errors
/// A launch failed.
pub fn in_turns<const N: usize>(
    commands: [(&Command, Vec<PathBuf>); N],
    request: &VerifyRequest,
    times: usize,
) -> Result<[Reading<Vec<FileReads>>; N], LaunchError> {
    let cpu = request.recording.cpu;
    let options = AttendOptions { timeout: COLD_TIMEOUT, cpu, to_entry: false };
    let mut launches: [Vec<FileReads>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..times {
        for ((command, files), launches) in commands.iter().zip(&mut launches) {
            match os::file_reads::record(command, files, &options) {
                Ok(reads) => launches.push(reads),
                Err(error @ LaunchError::NotPermitted { .. }) => {
                    return Ok(std::array::from_fn(|_| for_root(&error)));
                }
                Err(error) => return Err(error),
            }
        }
    }
    let mut commands = commands.iter();
    Ok(launches.map(|launches| {
        let files = commands.next().map_or(&[][..], |(_, files)| files);
        if_cold(launches, files)
    }))
}

/// The launches, if all were cold.
fn if_cold(mut launches: Vec<FileReads>, files: &[PathBuf]) -> Reading<Vec<FileReads>> {
    for launch in &launches {
        if let Reading::Unavailable { reason, remedy } = of_check(files, &launch.cold) {
            return Reading::Unavailable { reason, remedy };
        }
    }
    launches.sort_by(|one, other| duration_us(one).total_cmp(&duration_us(other)));
    Reading::Value(launches)
}

/// The launch whose reads take the median time.
fn median(launches: &[FileReads]) -> &[ReadFile] {
    launches.get(launches.len() / 2).map_or(&[], |launch| &launch.files)
}

/// The reads of that launch, or why they are not known.
pub fn median_of(launches: &Reading<Vec<FileReads>>) -> Reading<&[ReadFile]> {
    match launches {
        Reading::Value(launches) => Reading::Value(median(launches)),
        Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
    }
}

/// Time of all reads.
fn duration_us(reads: &FileReads) -> f64 {
    all_read_us(&reads.files)
}

/// Time of its reads.
pub fn read_us(file: &ReadFile) -> f64 {
    added_us(file.reads.iter().filter_map(|read| read.duration_us.get()))
}

/// A sum that is 0 if there is nothing to add; that of the standard library is -0.
fn added_us(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(0.0, |sum, us| sum + us)
}

/// Time of the reads of all files.
pub fn all_read_us(files: &[ReadFile]) -> f64 {
    added_us(files.iter().map(read_us))
}

/// Bytes between successive reads of a file.
pub fn distance(file: &ReadFile) -> u64 {
    let pairs = file.reads.windows(2);
    pairs.map(|pair| (pair[0].offset.0 + pair[0].bytes).abs_diff(pair[1].offset.0)).sum()
}

impl ColdReads {
    /// The sum over the files of one build.
    pub fn sum(&self, side: usize, of: impl Fn(&ReadFile) -> u64) -> Reading<u64> {
        median_of(&self.0[side]).map(|files| files.iter().map(of).sum())
    }

    /// Time of all reads of one build.
    pub fn read_us(&self, side: usize) -> Reading<f64> {
        median_of(&self.0[side]).map(all_read_us)
    }

    /// The reads of one build; none where they could not be recorded.
    pub fn list(&self, side: usize) -> Vec<ReadFile> {
        self.0[side].value().map_or(Vec::new(), |launches| median(launches).to_vec())
    }

    /// The number of reads in each launch, where they could be recorded.
    pub fn reads(&self) -> Option<Comparison> {
        let [old, new] = self.both()?;
        let reads = |launch: &FileReads| {
            launch.files.iter().map(|file| file.reads.len()).sum::<usize>() as f64
        };
        let repeated = |launches: &[FileReads]| Repeated::of(launches.iter().map(reads));
        Some(Comparison { what: "reads".to_owned(), old: repeated(old), new: repeated(new) })
    }

    /// What each module waits for.
    pub fn modules(&self, pairs: &[ModulePair]) -> Vec<ModuleChange> {
        let Some([old, new]) = self.both() else { return Vec::new() };
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

    /// The launches of both builds, where both could be recorded.
    fn both(&self) -> Option<[&[FileReads]; 2]> {
        let [old, new] = &self.0;
        Some([old.value()?, new.value()?])
    }
}
