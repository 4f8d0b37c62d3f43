use crate::OptimizeError;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Folders that variants are built in, removed when this value goes.
pub struct Scratch {
    folder: TempDir,
    made: usize,
}

impl Scratch {
    /// A new folder called headstart-optimize-… where temporary files are (`TMPDIR`).
    ///
    /// # Errors
    /// It cannot be made, or programs cannot be executed from there.
    pub fn new() -> Result<Scratch, OptimizeError> {
        let place = std::env::temp_dir();
        let wrong = |problem: String, remedy: &'static str| OptimizeError::Folder {
            folder: place.clone(),
            problem,
            remedy,
        };
        let folder = tempfile::Builder::new().prefix("headstart-optimize-").tempdir_in(&place);
        let folder = folder.map_err(|error| {
            let problem = format!("variants cannot be built there: {error}");
            wrong(problem, "free some space, or choose another folder with TMPDIR")
        })?;
        if os::program::is_on_noexec(folder.path()) {
            let problem = "its file system is mounted with noexec, so no variant could be started";
            return Err(wrong(problem.to_owned(), "choose another folder with TMPDIR"));
        }
        Ok(Scratch { folder, made: 0 })
    }

    /// The folder of all.
    pub fn path(&self) -> &Path {
        self.folder.path()
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
        fs::create_dir(&folder).map_err(|error| OptimizeError::Folder {
            folder: folder.clone(),
            problem: error.to_string(),
            remedy: "free some space, or choose another folder with TMPDIR",
        })?;
        // As the loader and the kernel will name what is in it.
        Ok(folder.canonicalize().unwrap_or(folder))
    }
}
