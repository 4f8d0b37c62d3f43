//! A new file that nobody sees before it is whole and proved.

use crate::ElfRewriteError;
use files::{Draft, Edited, WriteError};
use std::fs;
use std::path::{Path, PathBuf};

/// A file under a temporary name, in the folder that it will be in; removed with this value.
pub struct UnpublishedFile {
    draft: Draft,
    path: PathBuf,
    target: PathBuf,
}

fn same(target: &Path, original: &Path) -> bool {
    files::real_path(target)
        .is_ok_and(|target| files::real_path(original).is_ok_and(|o| o == target))
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
        let draft = Draft::create(target).map_err(|error| failed(error.into()))?;
        files::write_into(draft.file(), edited, original).map_err(&failed)?;
        let mode = fs::metadata(original).map_err(ElfRewriteError::unread(original))?.permissions();
        draft.file().set_permissions(mode).map_err(&failed)?;
        draft.file().sync_all().map_err(&failed)?;
        // It is simulated and started by its path.
        let draft = draft.read_only().map_err(|error| failed(error.into()))?;
        Ok(UnpublishedFile { path: draft.path(), draft, target: target.to_owned() })
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or there is such a file already.
    pub fn publish(self) -> Result<(), ElfRewriteError> {
        let failed = ElfRewriteError::io(&self.target);
        self.draft.name().map_err(|error| failed(error.into()))
    }
}
