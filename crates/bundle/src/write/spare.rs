//! The spare of a bundle at fixed addresses.
//!
//! It is kept beside the bundle, gets the new base and takes the bundle's place by a rename, and
//! what was the bundle is the next spare. So only pages with addresses are written.

use crate::error::BundleError;
use crate::write::ownership::Owned;
use crate::write::product;
use files::Draft;
use model::bundle::{BundleManifest, BundleProduct};
use os::copy::{CopyError, copy_range};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file that gets the next base.
pub(crate) const SPARE: &str = ".spare";

/// Removes the spare before another bundle takes the place of the one that it is of. Once this has
/// returned it stays removed, whatever happens to the machine. Only bundles at fixed addresses have
/// one.
pub(crate) fn remove(folder: &Path, owned: &Owned) -> io::Result<()> {
    if !owned.manifest.as_ref().is_some_and(|manifest| manifest.fixed) {
        return Ok(());
    }
    let spare = folder.join(SPARE);
    match std::fs::remove_file(&spare) {
        Ok(()) => Ok(files::sync_folder_of(&spare)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// A copy of the bundle that nothing uses, which is to take its place, and what is in it. `live` is
/// what is in `run`.
pub(crate) fn take(
    folder: &Path,
    run: &Path,
    (manifest, live): (&BundleManifest, &BundleProduct),
) -> Result<(Draft, BundleProduct), BundleError> {
    let spare = folder.join(SPARE);
    let io = |error| BundleError::write(&spare, error);
    // One that somebody has changed would make a wrong bundle.
    let usable = manifest.spare.as_ref().filter(|made| product::is(&spare, made));
    if let Some(made) = usable {
        match Draft::take(&spare, run).map_err(io::Error::from) {
            // A process still runs it, from when it was the bundle.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
            Err(error) => return Err(io(error)),
            Ok(draft) if is_ours_alone(draft.file()).map_err(io)? => {
                return Ok((draft, made.clone()));
            }
            Ok(_) => {}
        }
    }
    let draft = Draft::create(run);
    let draft = draft.map_err(|error| BundleError::write(folder, error.into()))?;
    let original = File::open(run).map_err(|error| BundleError::io(run, error))?;
    let data = original.metadata().map_err(|error| BundleError::io(run, error))?;
    copy_range(&original, 0, draft.file(), 0, data.len()).map_err(|error| match error {
        CopyError::Read(error) => BundleError::io(run, error),
        CopyError::Write(error) => io(error),
    })?;
    draft.file().set_permissions(data.permissions()).map_err(io)?;
    Ok((draft, live.clone()))
}

/// Whether nobody would see that it changes: it has no other name, and no process has it open or
/// mapped, as a debugger or a copy under way has.
fn is_ours_alone(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() == 1 && os::lease::is_open_here_only(file))
}
