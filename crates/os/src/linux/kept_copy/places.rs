//! Where the file and its copy are, and how everything becomes what it was.

use super::kept_file::KeptFile;
use super::links::KeptLink;
use std::io;
use std::path::PathBuf;

/// The file and its copy.
pub(super) struct Places {
    pub original: PathBuf,
    pub copy: PathBuf,
    pub file: KeptFile,
    /// Those by which the file was named.
    pub links: Vec<KeptLink>,
}

impl Places {
    /// Makes the file and the links what they were; whether they were not. A file that is still
    /// the same one gets its content back, so that its other names (hard links) have that, too.
    /// Else, or where it cannot be written, its copy takes its place.
    pub(super) fn put_back(&self) -> io::Result<bool> {
        let mut has_changed = false;
        for link in &self.links {
            has_changed |= link.put_back()?;
        }
        if self.file.is_as_before(&self.original, &self.copy)? {
            return Ok(has_changed);
        }
        let is_same_file = self.file.is_at(&self.original);
        if !is_same_file || self.file.write_back(&self.original, &self.copy).is_err() {
            std::fs::rename(&self.copy, &self.original)?;
        }
        Ok(true)
    }

    pub(super) fn remove(&self) {
        let _ = std::fs::remove_file(&self.copy);
    }
}
