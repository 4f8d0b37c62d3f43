//! The folders that results go to: made where they are missing, and kept from other runs.

use super::{RewriteRequest, Watcher};
use files::reasons;
use files::{Locked, WriteError};
use std::path::{Path, PathBuf};

/// How often a folder is made that another run removes.
const OFTEN: u32 = 1000;

/// Folders that results go to. Those that were made for them, innermost first, go with this value
/// where nothing was written to them.
pub(crate) struct Folders {
    new: Vec<PathBuf>,
    locked: Locked,
}

impl Folders {
    /// The folders of a request: made once it is known that there are any results, and kept from
    /// other runs that write there.
    pub(crate) fn of(
        request: &RewriteRequest,
        watcher: &dyn Watcher,
    ) -> Result<Folders, WriteError> {
        match request.folder() {
            Some(folder) => Folders::make(folder, watcher),
            None => Ok(Folders { new: Vec::new(), locked: lock(&request.files, watcher) }),
        }
    }

    /// Makes the folder and what is missing above it.
    fn make(folder: &Path, watcher: &dyn Watcher) -> Result<Folders, WriteError> {
        for _ in 0..OFTEN {
            let new = folder.ancestors().take_while(|folder| !folder.exists());
            let new = new.map(Path::to_owned).collect();
            std::fs::create_dir_all(folder)
                .map_err(|error| WriteError::refused(folder, reasons::unwritten(folder, &error)))?;
            let locked = Locked::folders([folder], |folder| watcher.waits(folder));
            let folders = Folders { new, locked };
            // The run that was waited for may have removed it.
            if folder.exists() {
                return Ok(folders);
            }
        }
        let reason = "it was made and is not there: it is the name of a device, or somebody removes \
                      it; choose another folder";
        Err(WriteError::refused(folder, reason))
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        if !self.new.is_empty() {
            self.locked.before_removal();
        }
        // One with something in it stays.
        self.new.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
}

/// Keeps other runs from writing to the folders of these files.
pub(super) fn lock(files: &[PathBuf], watcher: &dyn Watcher) -> Locked {
    let files = files.iter().map(PathBuf::as_path);
    Locked::folders_of(files, |folder| watcher.waits(folder))
}
