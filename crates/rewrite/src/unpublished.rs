//! A new file that nobody sees before it is whole and proved.

use crate::ElfRewriteError;
use files::Edited;
use files::WriteError;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file under a temporary name, in the folder that it will be in; removed with this value.
pub struct UnpublishedFile {
    path: TempPath,
}

fn same(target: &Path, original: &Path) -> bool {
    target.canonicalize().is_ok_and(|target| original.canonicalize().is_ok_and(|o| o == target))
}

impl UnpublishedFile {
    /// Writes `edited` beside `target`, with the mode of the file `original`, which is the only
    /// one that may be there already.
    ///
    /// # Errors
    /// There is another file, the folder cannot be written, or is full.
    pub fn write(
        edited: &Edited<'_>,
        original: &Path,
        target: &Path,
    ) -> Result<UnpublishedFile, ElfRewriteError> {
        if target.symlink_metadata().is_ok() && !same(target, original) {
            return Err(WriteError::Exists(target.to_owned()).into());
        }
        let failed = ElfRewriteError::io(target);
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file =
            tempfile::Builder::new().prefix(".headstart-").tempfile_in(folder).map_err(&failed)?;
        files::write_into(file.as_file(), edited, original).map_err(&failed)?;
        let mode = fs::metadata(original).map_err(ElfRewriteError::unread(original))?.permissions();
        file.as_file().set_permissions(mode).map_err(&failed)?;
        // What is simulated and started must not be open for writing (ETXTBSY of execve).
        Ok(UnpublishedFile { path: file.into_temp_path() })
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or there is such a file already.
    pub fn publish(self, target: &Path) -> Result<PathBuf, ElfRewriteError> {
        File::open(&self.path)
            .and_then(|file| file.sync_all())
            .map_err(ElfRewriteError::io(target))?;
        self.path
            .persist_noclobber(target)
            .map_err(|error| ElfRewriteError::io(target)(error.error))?;
        Ok(target.to_owned())
    }
}
