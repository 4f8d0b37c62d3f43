//! The files that were named, those below named folders, and those that fit named patterns.

use model::{FileKind, Identity};
use rayon::prelude::*;
use std::fs::FileType;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// A file, or why there is none.
pub struct Found {
    /// The path by which it was found.
    pub path: PathBuf,
    /// What it is to the file system.
    pub kind: Result<FileType, Error>,
    /// Whether it was named, or fits a pattern that was, and was not found in a folder.
    pub named: bool,
}

impl Found {
    fn listed(path: PathBuf, kind: Result<FileType, Error>) -> Found {
        Found { path, kind, named: false }
    }

    fn failed(path: &Path, error: Error, named: bool) -> Found {
        Found { path: path.to_owned(), kind: Err(error), named }
    }

    /// By a path that was named, so that a symbolic link is followed.
    fn named(path: PathBuf) -> Found {
        let kind = std::fs::metadata(&path).map(|metadata| metadata.file_type());
        Found { path, kind, named: true }
    }

    fn is_folder(&self) -> bool {
        self.kind.as_ref().is_ok_and(FileType::is_dir)
    }

    /// What it is.
    pub fn identify(&self) -> Identity {
        let identity = match &self.kind {
            Ok(kind) => image::identify::identify_found(&self.path, *kind),
            Err(error) => return self.unreadable(error),
        };
        identity.unwrap_or_else(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &Error) -> Identity {
        Identity {
            path: self.path.to_string_lossy().into_owned(),
            kind: FileKind::Unreadable,
            detail: error.to_string(),
            ..Identity::default()
        }
    }
}

/// Every file in the order of the arguments, and of names below folders.
pub fn find(named: &[PathBuf]) -> Vec<Found> {
    match named {
        [one] => expand(one),
        several => several.par_iter().flat_map_iter(|path| expand(path)).collect(),
    }
}

/// The files that were named, and in the place of a pattern the files that fit it, in order of names:
/// the shells of Windows leave patterns to programs. What is neither is left as it is.
pub fn named_or_fitting(named: &[PathBuf]) -> Vec<PathBuf> {
    let expanded = |path: &PathBuf| match path.symlink_metadata() {
        Ok(_) => vec![path.clone()],
        Err(_) => fitting_files(path),
    };
    named.iter().flat_map(expanded).collect()
}

fn fitting_files(path: &Path) -> Vec<PathBuf> {
    let found = fitting(path).unwrap_or_default().into_iter();
    let files = found.filter(|found| found.kind.as_ref().is_ok_and(FileType::is_file));
    let files: Vec<PathBuf> = files.map(|found| found.path).collect();
    if files.is_empty() { vec![path.to_owned()] } else { files }
}

fn expand(path: &Path) -> Vec<Found> {
    let found = Found::named(path.to_owned());
    match &found.kind {
        Ok(kind) if kind.is_dir() => below(path),
        // Of a pattern Windows says that it is no name.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
            fitting(path).unwrap_or_else(|| vec![found])
        }
        _ => vec![found],
    }
}

/// The files that fit a pattern; `None` where the path is none.
fn fitting(pattern: &Path) -> Option<Vec<Found>> {
    let text = pattern.to_str().filter(|text| text.contains(['*', '?', '[']))?;
    let options = glob::MatchOptions {
        case_sensitive: !cfg!(windows),
        require_literal_leading_dot: true,
        ..glob::MatchOptions::new()
    };
    let paths = match glob::glob_with(text, options) {
        Ok(paths) => paths,
        Err(error) => {
            let message = format!("there is no such file, and it is not a valid pattern: {error}");
            return Some(vec![Found::failed(pattern, Error::other(message), true)]);
        }
    };
    let mut found = Vec::new();
    for path in paths {
        match path {
            // Nobody means those with a pattern.
            Ok(path) if path.as_os_str().as_encoded_bytes().ends_with(files::UNDO.as_bytes()) => {}
            Ok(path) => {
                let named = Found::named(path);
                if named.is_folder() {
                    found.extend(below(&named.path));
                } else {
                    found.push(named);
                }
            }
            Err(error) => {
                let message = Error::other(error.to_string());
                found.push(Found::failed(error.path(), message, false));
            }
        }
    }
    if found.is_empty() {
        let message = "there is no such file, and no file matches it as a pattern";
        found.push(Found::failed(pattern, Error::new(ErrorKind::NotFound, message), true));
    }
    Some(found)
}

/// All that is below a folder in order of names, except folders and symbolic links. Level by level:
/// however deep, the stack is not.
fn below(folder: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while !folders.is_empty() {
        let listed: Vec<Found> = match folders.as_slice() {
            [one] => list(one),
            several => several.par_iter().flat_map_iter(|folder| list(folder)).collect(),
        };
        folders.clear();
        for entry in listed {
            if entry.is_folder() {
                folders.push(entry.path);
            } else {
                found.push(entry);
            }
        }
    }
    found.par_sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// What is in a folder, except symbolic links.
fn list(folder: &Path) -> Vec<Found> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return vec![Found::failed(folder, error, false)],
    };
    let found = entries.map(|entry| match entry {
        Ok(entry) => Found::listed(entry.path(), entry.file_type()),
        Err(error) => Found::failed(folder, error, false),
    });
    found.filter(|found| !found.kind.as_ref().is_ok_and(FileType::is_symlink)).collect()
}
