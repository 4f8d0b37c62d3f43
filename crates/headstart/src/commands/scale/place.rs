//! Where generated workloads live.

use super::{subject, workloads};
use anyhow::{Context, Result};
use lab::Runner;
use lab::sweep::Subject;
use model::Command;
use std::path::{Path, PathBuf};

const FOLDER: &str = "workloads";

/// A folder with one folder for each size.
pub struct Place {
    folder: PathBuf,
    /// Goes away with this value.
    temporary: Option<tempfile::TempDir>,
    /// Nobody asked for the run folder: what can be generated again is not left in it.
    passing: bool,
}

impl Place {
    /// In the run folder, or in a temporary one where there is none.
    pub fn new(run: Option<&Path>, passing: bool) -> Result<Place> {
        if let Some(run) = run {
            let run = run.canonicalize().with_context(|| run.display().to_string())?;
            return Ok(Place { folder: run.join(FOLDER), temporary: None, passing });
        }
        let temporary = tempfile::Builder::new()
            .prefix("headstart-scale-")
            .tempdir()
            .context("a temporary folder for the workloads; choose another place with TMPDIR")?;
        let folder = temporary.path().canonicalize()?.join(FOLDER);
        Ok(Place { folder, temporary: Some(temporary), passing })
    }

    /// The command of `subject` at size `n`; a workload is generated where it is not there yet.
    pub fn make(&self, subject: &Subject, n: u64, runner: &Runner) -> Result<Command> {
        if let Some(command) = subject::command(subject, n) {
            return command;
        }
        let Subject::Workload { kind, varied, fixed, format } = subject else {
            anyhow::bail!("sweep.json has no program for n = {n}; start a new sweep");
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
        Ok(runner.command(&program)?)
    }

    /// Removes a workload that was not written to its end: only inside the run's own folder, of
    /// which no part below the run may be a symbolic link.
    fn remove_incomplete(&self, folder: &Path) -> Result<()> {
        let name = || folder.display().to_string();
        if folder.symlink_metadata().is_err() {
            return Ok(());
        }
        if folder.canonicalize().with_context(name)? != *folder {
            anyhow::bail!("{} is a symbolic link; remove it, then resume the sweep", name());
        }
        std::fs::remove_dir_all(folder).with_context(name)
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
