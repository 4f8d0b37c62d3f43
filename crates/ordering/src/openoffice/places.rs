//! Where the experiment keeps what it makes.

use super::OpenOfficeError;
use lab::default_folder;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Both builds of the program, in a folder that goes away with this value.
pub struct Places {
    /// An order file that lists nothing.
    pub empty: PathBuf,
    /// The program as it is linked without an order.
    pub before: PathBuf,
    /// The program in order.
    pub after: PathBuf,
    folder: TempDir,
}

impl Places {
    /// Places in a new folder within `on`. Both programs have the same name, in folders of their own.
    pub fn new(on: &Path, name: &str) -> Result<Places, OpenOfficeError> {
        let failed = |source| OpenOfficeError::io(on, source);
        let on = on.canonicalize().map_err(failed)?;
        let folder = tempfile::Builder::new().prefix("headstart-openoffice-").tempdir_in(on);
        let folder = folder.map_err(failed)?;
        let [before, after] = ["before", "after"].map(|build| folder.path().join(build));
        for build in [&before, &after] {
            fs::create_dir(build).map_err(failed)?;
        }
        let empty = folder.path().join("empty.order");
        Ok(Places { empty, before: before.join(name), after: after.join(name), folder })
    }

    /// Type of the file system, where it can be told.
    pub fn file_system(&self) -> Option<String> {
        os::host::file_system(self.folder.path()).ok()
    }
}

/// A new folder: the one that was asked for, or one in the default place.
pub fn claim(asked: Option<&Path>) -> Result<PathBuf, OpenOfficeError> {
    let folder = match asked {
        Some(path) => path.to_owned(),
        None => default_folder::new(Path::new("openoffice"))?,
    };
    let failed = |source| OpenOfficeError::io(&folder, source);
    fs::create_dir_all(&folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    match fs::read_dir(&folder).map_err(failed)?.next() {
        Some(_) => Err(OpenOfficeError::NotEmpty(folder)),
        None => Ok(folder),
    }
}
