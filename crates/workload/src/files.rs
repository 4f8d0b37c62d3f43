//! The files of a workload, and writing them.

use crate::WorkloadError;
use files::Locked;
use rayon::prelude::*;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Makes the bytes of one file.
type Content = Box<dyn Fn() -> Result<Vec<u8>, WorkloadError> + Send + Sync>;

/// What the images of a workload hold in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Relocations that the loader applies, those of imports included.
    pub relocations: u64,
    /// Symbols that are taken from other images.
    pub imports: u64,
    /// Symbols that are offered to other images.
    pub exports: u64,
}

/// The files of a workload, each made only while it is written.
pub struct Files {
    program: String,
    counts: Counts,
    folders: Vec<PathBuf>,
    /// The program is the last: where it is, everything is.
    files: Vec<Planned>,
}

struct Planned {
    path: PathBuf,
    executable: bool,
    content: Content,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The program to launch, or the script that builds it.
    pub program: PathBuf,
    /// Number of files.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
}

impl Files {
    /// No files yet; `program` names the one that will be launched.
    pub(crate) fn new(program: &str, counts: Counts) -> Files {
        Files { program: program.to_owned(), counts, folders: Vec::new(), files: Vec::new() }
    }

    /// Adds a file; the program is added last.
    pub(crate) fn add(
        &mut self,
        path: impl Into<PathBuf>,
        executable: bool,
        content: impl Fn() -> Vec<u8> + Send + Sync + 'static,
    ) {
        self.try_add(path, executable, move || Ok(content()));
    }

    /// Adds a file whose making may fail; the program is added last.
    pub(crate) fn try_add(
        &mut self,
        path: impl Into<PathBuf>,
        executable: bool,
        content: impl Fn() -> Result<Vec<u8>, WorkloadError> + Send + Sync + 'static,
    ) {
        self.files.push(Planned { path: path.into(), executable, content: Box::new(content) });
    }

    /// Adds a folder.
    pub(crate) fn add_folder(&mut self, path: impl Into<PathBuf>) {
        self.folders.push(path.into());
    }

    /// Name of the program to launch, or of the script that builds it.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// What the images hold.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Names of all files, relative to the folder they will be written to.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// Writes all files to `folder`, which is created where it is missing. Files are made and
    /// written in parallel, the program last; memory is that of the files in the making.
    ///
    /// # Errors
    /// The folder is not empty, somebody else is writing to it, or a file cannot be written; what
    /// was written is removed then.
    pub fn write_to(&self, folder: &Path) -> Result<Written, WorkloadError> {
        let claim = Claim::new(folder)?;
        let written = self.write_all(&claim);
        if written.is_err() {
            claim.abandon();
        }
        Ok(Written {
            program: folder.join(&self.program),
            files: self.files.len() as u64,
            bytes: written?,
        })
    }

    fn write_all(&self, claim: &Claim) -> Result<u64, WorkloadError> {
        for inner in &self.folders {
            let path = claim.folder.join(inner);
            std::fs::create_dir(&path).map_err(|error| WorkloadError::io(&path, error))?;
            claim.made(path);
        }
        let Some((program, others)) = self.files.split_last() else { return Ok(0) };
        let bytes: u64 = match others {
            [] => 0,
            others => others.par_iter().map(|file| file.write(claim)).sum::<Result<u64, _>>()?,
        };
        Ok(bytes + program.write(claim)?)
    }
}

impl Planned {
    fn write(&self, claim: &Claim) -> Result<u64, WorkloadError> {
        let path = claim.folder.join(&self.path);
        let bytes = (self.content)()?;
        let mode = if self.executable { 0o777 } else { 0o666 };
        let file = files::create_new(&path, mode);
        let mut file = file.map_err(|error| WorkloadError::io(&path, error))?;
        claim.made(path.clone());
        file.write_all(&bytes).map_err(|error| WorkloadError::io(&path, error))?;
        Ok(bytes.len() as u64)
    }
}

/// A folder that this process alone writes to, and what it has made there.
struct Claim {
    folder: PathBuf,
    /// The folder itself did not exist.
    created: bool,
    /// Files and folders in order of making.
    made: Mutex<Vec<PathBuf>>,
    /// Locked until everything is written.
    lock: Locked,
}

impl Claim {
    /// Makes sure that `folder` is there, empty, and nobody else's.
    fn new(folder: &Path) -> Result<Claim, WorkloadError> {
        let failed = |error| WorkloadError::io(folder, error);
        let created = !folder.exists();
        std::fs::create_dir_all(folder).map_err(failed)?;
        let lock = match Locked::now(folder) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(WorkloadError::Claimed { folder: folder.to_owned() });
            }
            locked => locked.map_err(failed)?,
        };
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let found = entry.map_err(failed)?.file_name();
            if !files::is_lock(&found) {
                let (folder, found) = (folder.to_owned(), found.to_string_lossy().into_owned());
                return Err(WorkloadError::NotEmpty { folder, found });
            }
        }
        let (folder, made) = (folder.to_owned(), Mutex::default());
        Ok(Claim { folder, created, made, lock })
    }

    fn made(&self, path: PathBuf) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }

    /// Removes what was made. Whatever cannot be removed is left: the error that led here is the
    /// one to tell.
    fn abandon(mut self) {
        let made = self.made.into_inner().unwrap_or_else(PoisonError::into_inner);
        for path in made.iter().rev() {
            let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir(path));
        }
        if self.created {
            self.lock.before_removal();
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}
