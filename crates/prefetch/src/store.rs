//! Where a user's recordings are kept, by program and class of arguments.
//!
//! Recordings name files that are opened and read, so none is used that somebody else could have
//! written: it has to belong to the user or to root, and root uses only root's.

use crate::class;
use crate::merge::merge;
use crate::recording::{self, MOST_BYTES, MOST_SAMPLE_BYTES, RecordingProblem};
use files::Permit;
use model::Recording;
use os::prefetch::{AheadPlan, WITHOUT_WAITING};
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

const ENDING: &str = ".record";
const OTHERS_MAY_WRITE: u32 = 0o022;
/// More recordings of one program are not united.
const MOST_CLASSES: usize = 16;

/// Why a file of a recording cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The system's words.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Somebody else could have written it.
    #[error(
        "{}: it {found}, so it is not trusted; copy it to a file of your own, or record again",
        .path.display()
    )]
    NotTrusted {
        /// The file.
        path: PathBuf,
        /// Whose it is, or who may write it.
        found: String,
    },
    /// It is no recording.
    #[error("{}: {problem}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: RecordingProblem,
    },
    /// There is no place for recordings.
    #[error("neither XDG_CACHE_HOME nor HOME names a folder for recordings")]
    NoPlace,
    /// It could not be written.
    #[error("{}: {words}", .path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// Why.
        words: String,
    },
}

/// A folder of recordings.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A recording in a store.
#[derive(Clone, Debug)]
pub struct StoredRecording {
    /// Its file.
    pub path: PathBuf,
    /// What it holds, or why that is not known.
    pub content: Result<Recording, String>,
    /// Size of its file.
    pub file_bytes: u64,
}

/// A recording, and the launches that it is of.
#[derive(Clone, Debug)]
pub struct ClassRecording {
    /// The words of their class ([`class::of`]), if they are known.
    pub class: Option<Vec<String>>,
    /// What they read.
    pub recording: Recording,
}

impl Store {
    /// The user's own, below the cache folder (XDG Base Directory Specification).
    ///
    /// # Errors
    /// There is no such place.
    pub fn of_user(cache: Option<PathBuf>) -> Result<Store, StoreError> {
        let folder = cache.ok_or(StoreError::NoPlace)?.join("recordings");
        Ok(Store { folder })
    }

    /// The file of a program's launches with such arguments.
    pub fn path<Word: AsRef<OsStr>>(&self, program: &Path, arguments: &[Word]) -> PathBuf {
        let class = class::digits_of(&class::of(arguments));
        self.folder.join(format!("{}{class}{ENDING}", class::of_program(program)))
    }

    /// The recording of such launches; if there is none, all recordings of the program united.
    ///
    /// # Errors
    /// A recording that is there cannot be used.
    pub fn find<Word: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: &[Word],
    ) -> Result<Option<Recording>, StoreError> {
        match load(&self.path(program, arguments)) {
            Ok(found) => return Ok(Some(found)),
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let recordings = self.of_program(program)?.into_iter().map(|kept| kept.recording);
        Ok(merge(recordings.collect()).ok())
    }

    /// The recordings of a program that can be used, with their classes.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn of_program(&self, program: &Path) -> Result<Vec<ClassRecording>, StoreError> {
        let beginning = class::of_program(program);
        let named = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&beginning))
        };
        let kept = |path: PathBuf| {
            let recording = load(&path).ok()?;
            let name = path.file_name()?.to_str()?.strip_prefix(&beginning)?;
            let class = class::of_line(&recording.command, name.strip_suffix(ENDING)?);
            Some(ClassRecording { class, recording })
        };
        let paths = self.paths()?.into_iter().filter(named).take(MOST_CLASSES);
        Ok(paths.filter_map(kept).collect())
    }

    /// A file beside the recordings.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Keeps a recording under this name.
    ///
    /// # Errors
    /// The folder cannot be made, or the file not be written.
    pub fn keep(&self, path: &Path, recording: &Recording) -> Result<(), StoreError> {
        self.make_folder()?;
        // Nobody has put one there but to have another file written.
        if path.symlink_metadata().is_ok_and(|data| data.is_symlink()) {
            return Err(StoreError::NotWritten {
                path: path.to_owned(),
                words: "it is a symbolic link; remove it".to_owned(),
            });
        }
        save(path, recording)
    }

    /// Makes the folder, which has to be the user's own.
    pub(crate) fn make_folder(&self) -> Result<(), StoreError> {
        let folder = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        let failed = |source| StoreError::Io { path: self.folder.clone(), source };
        folder.map_err(failed)?;
        let owner = self.folder.metadata().map_err(failed)?.uid();
        if owner != os::host::user() {
            return Err(StoreError::NotWritten {
                path: self.folder.clone(),
                words: format!("this folder belongs to user {owner}, so nothing is kept in it"),
            });
        }
        Ok(())
    }

    /// All recordings, by name.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<StoredRecording>, StoreError> {
        let stored = |path: PathBuf| StoredRecording {
            content: load(&path).map_err(|error| error.to_string()),
            file_bytes: path.metadata().map_or(0, |data| data.len()),
            path,
        };
        Ok(self.paths()?.into_iter().map(stored).collect())
    }

    fn paths(&self) -> Result<Vec<PathBuf>, StoreError> {
        let failed = |source| StoreError::Io { path: self.folder.clone(), source };
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        let mut paths = paths.collect::<io::Result<Vec<_>>>().map_err(failed)?;
        paths.retain(|path| path.to_string_lossy().ends_with(ENDING));
        paths.sort();
        Ok(paths)
    }
}

/// Reads a recording that nobody else can have written.
///
/// # Errors
/// It cannot be read, is not trusted, or is no recording.
pub fn load(path: &Path) -> Result<Recording, StoreError> {
    let bytes = trusted_bytes(path)?;
    recording::read(&bytes)
        .map_err(|problem| StoreError::Content { path: path.to_owned(), problem })
}

/// Whether a file begins as a recording does.
pub fn is_recording(path: &Path) -> bool {
    let open = || File::options().read(true).custom_flags(WITHOUT_WAITING).open(path);
    let begins = |file: File| {
        let mut bytes = Vec::new();
        let read = file.take(recording::MAGIC.len() as u64).read_to_end(&mut bytes);
        read.is_ok() && bytes == recording::MAGIC
    };
    path.is_file() && open().is_ok_and(begins)
}

/// What has to be looked at before a recording is read: a plan that asks for nothing. `None` where the
/// file cannot be used or has no samples.
pub fn samples(path: &Path) -> Option<AheadPlan> {
    let (file, _) = trusted(path).ok()?;
    let mut beginning = Vec::with_capacity(2 * MOST_SAMPLE_BYTES);
    file.take(2 * MOST_SAMPLE_BYTES as u64).read_to_end(&mut beginning).ok()?;
    recording::samples(&beginning)
}

/// The content of a file that nobody else can have written.
pub(crate) fn trusted_bytes(path: &Path) -> Result<Vec<u8>, StoreError> {
    let (file, size) = trusted(path)?;
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(MOST_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|source| StoreError::Io { path: path.to_owned(), source })?;
    Ok(bytes)
}

/// An open file that nobody else can have written, and its size.
fn trusted(path: &Path) -> Result<(File, u64), StoreError> {
    let failed = |source| StoreError::Io { path: path.to_owned(), source };
    let file = File::options().read(true).custom_flags(WITHOUT_WAITING).open(path);
    let file = file.map_err(failed)?;
    let data = file.metadata().map_err(failed)?;
    let distrust = |found: String| Err(StoreError::NotTrusted { path: path.to_owned(), found });
    if !data.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")));
    }
    if data.uid() != os::host::user() && data.uid() != 0 {
        return distrust(format!("belongs to user {}", data.uid()));
    }
    if data.mode() & OTHERS_MAY_WRITE != 0 {
        return distrust("may be written by others".to_owned());
    }
    if data.len() > MOST_BYTES {
        let problem = RecordingProblem::Damaged(format!("it has {} bytes", data.len()));
        return Err(StoreError::Content { path: path.to_owned(), problem });
    }
    Ok((file, data.len()))
}

/// Writes the file of a recording, whole or not at all. Others may read it and not write it.
///
/// # Errors
/// What stands in its place is no recording, or there is no room.
pub fn save(path: &Path, recording: &Recording) -> Result<(), StoreError> {
    if path.exists() && !is_recording(path) && path.metadata().is_ok_and(|data| data.len() > 0) {
        return Err(StoreError::NotWritten {
            path: path.to_owned(),
            words: "it is a file that is no recording, so it is not replaced".to_owned(),
        });
    }
    let written = files::write_named(path, &recording::write(recording), Permit::Created(0o644));
    written.map_err(|error| StoreError::NotWritten {
        path: path.to_owned(),
        // Without its path, which is named already.
        words: io::Error::from(error).to_string(),
    })
}

#[cfg(test)]
mod tests;
