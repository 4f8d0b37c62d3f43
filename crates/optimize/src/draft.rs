//! A new file that nobody sees before it is whole and proved.

use crate::LinkError;
use image::edit::Edited;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file under a temporary name, in the folder that it will be in; removed with this value.
pub struct Draft {
    path: TempPath,
}

impl Draft {
    /// Writes `edited` beside `target`, with the mode of the file `original`.
    ///
    /// # Errors
    /// The folder cannot be written, or is full.
    pub fn write(edited: &Edited<'_>, original: &Path, target: &Path) -> Result<Draft, LinkError> {
        let failed = LinkError::io(target);
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut file =
            tempfile::Builder::new().prefix(".headstart-").tempfile_in(folder).map_err(&failed)?;
        edited.pieces().try_for_each(|piece| file.write_all(piece)).map_err(&failed)?;
        let mode = fs::metadata(original).map_err(LinkError::io(original))?.permissions();
        file.as_file().set_permissions(mode).map_err(&failed)?;
        // What is simulated and started must not be open for writing (ETXTBSY of execve).
        Ok(Draft { path: file.into_temp_path() })
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name; one of that name is replaced.
    ///
    /// # Errors
    /// The disk is full, or the name is a folder's.
    pub fn publish(self, target: &Path) -> Result<PathBuf, LinkError> {
        File::open(&self.path).and_then(|file| file.sync_all()).map_err(LinkError::io(target))?;
        self.path.persist(target).map_err(|error| LinkError::io(target)(error.error))?;
        Ok(target.to_owned())
    }
}
