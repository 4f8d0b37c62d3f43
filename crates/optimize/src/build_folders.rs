//! Folders that variants are built in.

use crate::{BuildRemedy, OptimizeError};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Folders that variants are built in, removed when this value goes.
pub struct BuildFolders {
    folder: TempDir,
    made: usize,
}

impl BuildFolders {
    /// A new folder called headstart-optimize-… where temporary files are (`TMPDIR`).
    ///
    /// # Errors
    /// It cannot be made, or programs cannot be executed from there.
    pub fn new() -> Result<BuildFolders, OptimizeError> {
        let place = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix("headstart-optimize-").tempdir_in(&place);
        let folder = folder.map_err(|error| {
            OptimizeError::unwritten(&place, error, BuildRemedy::AnotherTemporary)
        })?;
        if os::program::is_on_noexec(folder.path()) {
            let problem = "its file system is mounted with noexec, so no variant could be started";
            let (problem, remedy) = (problem.to_owned(), BuildRemedy::AnotherTemporary);
            return Err(OptimizeError::Folder { folder: place, problem, remedy });
        }
        Ok(BuildFolders { folder, made: 0 })
    }

    /// Refuses a folder in which no variant could start cold.
    ///
    /// # Errors
    /// It is in memory.
    pub fn refuse_memory(&self) -> Result<(), OptimizeError> {
        let kind = os::host::file_system(self.path()).unwrap_or_default();
        if kind != "tmpfs" && kind != "ramfs" {
            return Ok(());
        }
        let folder = self.path().parent().unwrap_or(self.path()).to_owned();
        Err(OptimizeError::InMemory { folder })
    }

    /// The folder of all.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A copy of a program, which a variant can start when it is not up to date.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn copy_of(&mut self, program: &Path) -> Result<PathBuf, OptimizeError> {
        let folder = self.folder_for("original")?;
        let copy = folder.join(program.file_name().unwrap_or_default());
        fs::copy(program, &copy).map_err(|error| {
            OptimizeError::unwritten(&copy, error, BuildRemedy::AnotherTemporary)
        })?;
        Ok(copy)
    }

    /// A new and empty folder for the variant of that name.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn folder_for(&mut self, name: &str) -> Result<PathBuf, OptimizeError> {
        self.made += 1;
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let words: String = name.chars().map(plain).collect();
        let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
        let folder = self.path().join(format!("{}-{}", self.made, words.join("-")));
        fs::create_dir(&folder).map_err(|error| {
            OptimizeError::unwritten(&folder, error, BuildRemedy::AnotherTemporary)
        })?;
        // As the loader and the kernel will name what is in it.
        Ok(folder.canonicalize().unwrap_or(folder))
    }
}
