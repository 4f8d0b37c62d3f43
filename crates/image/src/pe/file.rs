//! A PE file on the disk, mapped read-only.

use super::Headers;
use super::read::Pe;
use crate::error::{self, ImageError};
use crate::map;
use files::Stamp;
use std::path::{Path, PathBuf};

/// A PE file on the disk, mapped read-only.
#[derive(Debug)]
pub struct PeFile {
    path: PathBuf,
    name: String,
    bytes: memmap2::Mmap,
    headers: Headers,
    /// The file as it was when it was opened.
    stamp: Option<Stamp>,
}

impl PeFile {
    /// Opens a file whose headers can be read.
    ///
    /// # Errors
    /// The file cannot be read, is not a regular file, or is not PE.
    pub fn open(path: &Path) -> Result<PeFile, ImageError> {
        let name = path.to_string_lossy().into_owned();
        let Some((file, bytes)) = map(path)? else {
            return Err(ImageError::unrecognized(&name, &[], &error::PE));
        };
        let stamp = Stamp::of_file(&file);
        let headers = Headers::read(&name, &bytes)?;
        Ok(PeFile { path: path.to_owned(), name, bytes, headers, stamp })
    }

    /// Makes sure that what was read of the file is one version of it, and the present one.
    ///
    /// # Errors
    /// Somebody has touched it since it was opened.
    pub fn unchanged(&self) -> Result<(), ImageError> {
        match self.stamp.is_some() && self.stamp == Stamp::now(&self.path) {
            true => Ok(()),
            false => Err(ImageError::Changed(self.path.clone())),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its path as text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its content.
    pub fn pe(&self) -> Pe<'_> {
        Pe::of(self.headers.clone(), &self.bytes)
    }

    /// Its headers.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }
}
