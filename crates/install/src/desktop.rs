//! Desktop entries that start a bundle.

use crate::{InstallPlaces, ProgramError};
use model::InstalledKind;
use prefetch::launchers::{self, desktop};
use std::path::{Path, PathBuf};

/// An entry that is to be copied.
pub(crate) struct PlannedEntry {
    entry: desktop::DesktopEntry,
    own: PathBuf,
    /// The copy.
    pub(crate) at: PathBuf,
}

/// The entries of the system that start a program and that the user has none of instead.
pub(crate) fn planned(
    places: &InstallPlaces,
    program: &Path,
) -> Result<Vec<PlannedEntry>, ProgramError> {
    let Some(own) = &places.own_entries else { return Ok(Vec::new()) };
    let found = desktop::find(&places.entries, |_, starts| starts == Some(program))?;
    let planned = found.into_iter().map(|entry| {
        let at = desktop::copy_of(&entry, own);
        PlannedEntry { entry, own: own.clone(), at }
    });
    Ok(planned.filter(|planned| planned.at.symlink_metadata().is_err()).collect())
}

/// Copies one, with another program in its commands.
pub(crate) fn write(planned: &PlannedEntry, run: &Path, undo: &str) -> Result<(), ProgramError> {
    desktop::redirect(&planned.entry, &planned.own, run, undo)?;
    Ok(())
}

/// Removes one, unless somebody else has put it there.
pub(crate) fn remove(at: &Path) -> Result<(), ProgramError> {
    match launchers::made(at) {
        Ok(Some(InstalledKind::DesktopEntry)) => Ok(launchers::remove(&[at.to_owned()]).map(drop)?),
        // It is not there, or is somebody else's.
        _ => Ok(()),
    }
}
