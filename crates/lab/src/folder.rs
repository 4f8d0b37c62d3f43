//! The run folder: `experiment.json` says what is measured, `launches.jsonl` holds one line a
//! launch, appended the moment the launch is over. Killing headstart loses nothing but the
//! launch under way.

mod lock;
#[cfg(unix)]
#[cfg(test)]
mod unix_tests;

use crate::{FolderRemedy, LabError, Series};
use files::{Permit, WriteError};
use lock::{RunLock, is_removed};
use model::{EXPERIMENT_SCHEMA, Experiment, Sample, quoted_path};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const EXPERIMENT: &str = "experiment.json";
const LAUNCHES: &str = "launches.jsonl";
const PERMIT: Permit = Permit::Created(0o666);
/// Name of the explanation that is added to a run.
pub const EXPLANATION: &str = "explanation.json";

/// What belongs to a run of the sizes of a sweep.
pub const SWEEP_PLAN: &str = "sweep.json";

/// Where samples go as they are made.
pub trait Samples {
    /// Keeps one sample.
    fn append(&mut self, sample: &Sample) -> Result<(), LabError>;
}

impl Samples for Vec<Sample> {
    fn append(&mut self, sample: &Sample) -> Result<(), LabError> {
        self.push(sample.clone());
        Ok(())
    }
}

/// A run folder open for appending.
pub struct RunFolder {
    path: PathBuf,
    launches: File,
    lock: Option<RunLock>,
}

impl RunFolder {
    /// Creates a run folder; its parents too. An existing run is never overwritten.
    pub fn create(path: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        let new: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
        let created = Self::create_in(path, experiment);
        if created.is_err() {
            // Folders made for nothing; what has something in it stays.
            new.iter().for_each(|folder| drop(fs::remove_dir(folder)));
        }
        created
    }

    fn create_in(path: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        let another = || FolderRemedy::Another;
        fs::create_dir_all(path).map_err(|error| problem(path, &error, another()))?;
        let file = path.join(EXPERIMENT);
        let occupied = || LabError::Folder {
            path: path.to_owned(),
            problem: "it already contains a run".to_owned(),
            remedy: resumable(path).map_or_else(another, FolderRemedy::ContinueOrAnother),
        };
        // Launches of a run whose description is gone must not be mixed with new ones.
        if file.exists() || path.join(LAUNCHES).exists() {
            return Err(occupied());
        }
        let mut others = fs::read_dir(path).map_err(|error| problem(path, &error, another()))?;
        if others.next().is_some() {
            return Err(LabError::folder(path, "it is not empty", "use a new or an empty folder"));
        }
        let written = files::write_new(&file, &bytes(&file, experiment)?, PERMIT);
        written.map_err(|error| match error {
            WriteError::Exists(_) => occupied(),
            error => problem(&file, &error.into(), another()),
        })?;
        Self::open_launches(path)
    }

    /// Opens a run to continue it: what it measures and what it has measured. A last line that
    /// was cut short is removed.
    pub fn resume(path: &Path) -> Result<(Self, Experiment, Vec<Sample>), LabError> {
        let experiment = read_experiment(path)?;
        let folder = Self::open_launches(path)?;
        let samples = read_samples(path, &experiment, true)?;
        Ok((folder, experiment, samples))
    }

    /// What the run in a folder is of.
    pub fn experiment(path: &Path) -> Result<Experiment, LabError> {
        read_experiment(path)
    }

    /// Reads a run without changing it.
    pub fn read(path: &Path) -> Result<(Experiment, Vec<Sample>), LabError> {
        let experiment = read_experiment(path)?;
        let samples = read_samples(path, &experiment, false)?;
        Ok((experiment, samples))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes another file of the run, whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), LabError> {
        let file = self.path.join(name);
        replace(&file, &bytes(&file, value)?)
    }

    /// The same without white space, for what is large and read by programs alone.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write_compact_json(&self, name: &str, value: &impl Serialize) -> Result<(), LabError> {
        let file = self.path.join(name);
        let bytes = serde_json::to_vec(value);
        replace(&file, &bytes.map_err(|error| full(&file, &error.into()))?)
    }

    /// Replaces what the run is to measure: a run that goes on may be made longer.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write_experiment(&self, experiment: &Experiment) -> Result<(), LabError> {
        self.write_json(EXPERIMENT, experiment)
    }

    /// Removes the run as [`RunFolder::create`] made it. Other files in the folder stay.
    pub fn discard(self) {
        let RunFolder { path, launches, lock } = self;
        // Windows removes no file that is locked.
        drop((launches, lock));
        // What cannot be removed is only untidy.
        let _ = fs::remove_file(path.join(EXPERIMENT));
        let _ = fs::remove_file(path.join(LAUNCHES));
        let _ = fs::remove_dir(&path);
    }

    fn open_launches(path: &Path) -> Result<Self, LabError> {
        let file = path.join(LAUNCHES);
        let launches = File::options()
            .create(true)
            .append(true)
            .open(&file)
            .map_err(|error| problem(&file, &error, FolderRemedy::WritableOrAnother))?;
        let lock = lock::lock(&launches, &file).map_err(|error| full(&file, &error))?;
        let lock = lock.map_err(|_taken| {
            let problem = "another headstart adds launches to this run";
            LabError::folder(path, problem, "wait until that has ended")
        })?;
        Ok(RunFolder { path: path.to_owned(), launches, lock })
    }
}

/// A run that has no folder keeps its samples nowhere.
impl Samples for Option<RunFolder> {
    fn append(&mut self, sample: &Sample) -> Result<(), LabError> {
        self.as_mut().map_or(Ok(()), |folder| folder.append(sample))
    }
}

impl Samples for RunFolder {
    fn append(&mut self, sample: &Sample) -> Result<(), LabError> {
        let file = self.path.join(LAUNCHES);
        let mut line = serde_json::to_vec(sample).map_err(|error| full(&file, &error.into()))?;
        line.push(b'\n');
        // Of a file without a name nothing would be left.
        if is_removed(&self.launches, &file) {
            let problem = "it was removed during the run";
            return Err(LabError::folder(&file, problem, "start a new run, and keep its folder"));
        }
        // One write a line: a reader never sees half of one unless the disk is full.
        self.launches.write_all(&line).map_err(|error| full(&file, &error))
    }
}

/// What the run of a folder is of, where it can be continued. An explanation is made in one go.
fn resumable(path: &Path) -> Option<Series> {
    if path.join(EXPLANATION).exists() {
        return None;
    }
    if path.join(SWEEP_PLAN).exists() {
        return Some(Series::OfSizes);
    }
    Some(Series::of_experiment(&read_experiment(path).ok()?))
}

fn problem(path: &Path, error: &io::Error, remedy: FolderRemedy) -> LabError {
    LabError::Folder { path: path.to_owned(), problem: error.to_string(), remedy }
}

fn full(path: &Path, error: &io::Error) -> LabError {
    problem(path, error, FolderRemedy::FreeSpace)
}

fn replace(file: &Path, bytes: &[u8]) -> Result<(), LabError> {
    let written = files::write_over(file, bytes, PERMIT);
    written.map_err(|error| full(file, &error.into()))
}

fn bytes(file: &Path, value: &impl Serialize) -> Result<Vec<u8>, LabError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| full(file, &error.into()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn read_experiment(path: &Path) -> Result<Experiment, LabError> {
    let file = path.join(EXPERIMENT);
    let remedy = "give the folder of a run";
    let bytes = fs::read(&file).map_err(|error| LabError::folder(&file, error, remedy))?;
    let experiment: Experiment =
        serde_json::from_slice(&bytes).map_err(|error| LabError::folder(&file, error, remedy))?;
    check_schema(&file, experiment.schema, EXPERIMENT_SCHEMA)?;
    Ok(experiment)
}

/// Refuses a file that another version of headstart has written.
pub(crate) fn check_schema(file: &Path, found: u32, expected: u32) -> Result<(), LabError> {
    if found == expected {
        return Ok(());
    }
    let problem =
        format!("it has schema {found}, but this version of headstart reads schema {expected}");
    Err(LabError::folder(file, problem, "use the version of headstart that wrote it"))
}

fn read_samples(
    path: &Path,
    experiment: &Experiment,
    repair: bool,
) -> Result<Vec<Sample>, LabError> {
    let file = path.join(LAUNCHES);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LabError::folder(&file, error, "make it readable")),
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let mut samples = Vec::new();
    for (number, line) in (1..).zip(bytes[..whole].split(|&byte| byte == b'\n')) {
        if !line.is_empty() {
            samples.push(parse(line, experiment).map_err(|what| {
                let problem = format!("line {number} is not a launch of this run: {what}");
                let remedy = match cfg!(windows) {
                    true => "remove that line".to_owned(),
                    false => format!("remove that line: sed -i {number}d {}", quoted_path(&file)),
                };
                LabError::folder(&file, problem, &remedy)
            })?);
        }
    }
    if repair && whole < bytes.len() {
        let cut = File::options().write(true).open(&file).and_then(|f| f.set_len(whole as u64));
        cut.map_err(|error| LabError::folder(&file, error, "make it writable"))?;
    }
    Ok(samples)
}

fn parse(line: &[u8], experiment: &Experiment) -> Result<Sample, String> {
    let sample: Sample = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let (variant, variants) = (sample.variant, experiment.variants.len());
    if variant.index() >= variants {
        return Err(format!("it is for variant {variant}, but the run has {variants} variants"));
    }
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_can_go_on_though_another_process_has_its_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::open_launches(folder.path()).unwrap();
        let of_a_child = run.launches.try_clone().unwrap();
        assert!(RunFolder::open_launches(folder.path()).is_err());
        drop(run);
        assert!(RunFolder::open_launches(folder.path()).is_ok());
        drop(of_a_child);
    }
}
