//! Where generated workloads live.

use super::{SweepSubject, workloads};
use crate::{LabError, Runner};
use model::Command;
use std::io;
use std::path::{Path, PathBuf};

const FOLDER: &str = "workloads";

/// A folder with one folder for each size.
pub struct WorkloadFolder {
    folder: PathBuf,
    /// Goes away with this value.
    temporary: Option<tempfile::TempDir>,
    /// Nobody asked for the run folder: what can be generated again is not left in it.
    passing: bool,
}

impl WorkloadFolder {
    /// In the run folder, or in a temporary one where there is none.
    pub fn new(run: Option<&Path>, passing: bool) -> Result<WorkloadFolder, LabError> {
        if let Some(run) = run {
            let run = files::real_path(run).map_err(|error| failed(run, error))?;
            return Ok(WorkloadFolder { folder: run.join(FOLDER), temporary: None, passing });
        }
        let temporary = tempfile::Builder::new()
            .prefix("headstart-scale-")
            .tempdir()
            .map_err(LabError::NoTemporaryFolder)?;
        let folder = temporary.path();
        let folder = files::real_path(folder).map_err(|error| failed(folder, error))?.join(FOLDER);
        Ok(WorkloadFolder { folder, temporary: Some(temporary), passing })
    }

    /// The command of `subject` at size `n`; a workload is generated where it is not there yet.
    pub fn make(
        &self,
        subject: &SweepSubject,
        n: u64,
        runner: &Runner,
    ) -> Result<Command, LabError> {
        if let Some(command) = subject.command(n) {
            return Ok(command?);
        }
        let SweepSubject::Workload { kind, varied, fixed, format } = subject else {
            let text = format!("sweep.json has no program for n = {n}; start a new sweep");
            return Err(LabError::Unusable(text));
        };
        let mut parameters = fixed.clone();
        parameters.push((varied.clone(), n));
        let folder = self.folder.join(format!("{varied}-{n}"));
        let files = workloads::files(kind, *format, &parameters)?;
        let program = folder.join(files.program());
        // The program is written last: where it is, the workload is complete.
        if !program.is_file() {
            self.remove_incomplete(&folder)?;
            files.write_to(&folder)?;
        }
        runner.command(&program)
    }

    /// Removes a workload that was not written to its end: only inside the run's own folder, of
    /// which no part below the run may be a symbolic link.
    fn remove_incomplete(&self, folder: &Path) -> Result<(), LabError> {
        if folder.symlink_metadata().is_err() {
            return Ok(());
        }
        if files::real_path(folder).map_err(|error| failed(folder, error))? != *folder {
            let folder = folder.display();
            let text = format!("{folder} is a symbolic link; remove it, then resume the sweep");
            return Err(LabError::Unusable(text));
        }
        std::fs::remove_dir_all(folder).map_err(|error| failed(folder, error))
    }

    /// Removes what is not to be kept, once the sweep is over.
    pub fn tidy(&self, over: bool) {
        if over && self.passing && self.temporary.is_none() {
            // What cannot be removed is only untidy.
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    /// Removes everything: the sweep did not come about.
    pub fn discard(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn failed(path: &Path, source: io::Error) -> LabError {
    LabError::Workloads { path: path.to_owned(), source }
}
