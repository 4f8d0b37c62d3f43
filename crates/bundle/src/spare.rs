//! The spare of a bundle at fixed addresses.
//!
//! It is kept beside the bundle, gets the new base and takes the bundle's place by a rename, and
//! what was the bundle is the next spare. So only pages with addresses are written.

use crate::error::BundleError;
use crate::ownership::Owned;
use crate::product;
use crate::workplace::temporary;
use model::bundle::{BundleManifest, BundleProduct};
use os::copy::copy_range;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file that gets the next base.
pub(crate) const SPARE: &str = ".spare";
/// A spare while it is written to.
pub(crate) const PARTIAL: &str = ".spare-partial";
/// The bundle while another takes its place.
const FORMER: &str = ".spare-former";

/// Removes the spare, and what is left of one, before another bundle takes the place of the one
/// that it is of. Once this has returned it stays removed, whatever happens to the machine. Only
/// bundles at fixed addresses have one.
pub(crate) fn remove(folder: &Path, owned: &Owned) -> io::Result<()> {
    if !owned.manifest.as_ref().is_some_and(|manifest| manifest.fixed) {
        return Ok(());
    }
    let mut removed = false;
    for name in [SPARE, PARTIAL, FORMER] {
        removed |= remove_one(&folder.join(name))?;
    }
    if removed { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Tells whether it was there.
fn remove_one(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A copy of the bundle that nothing uses, open for writing and under its partial name, and what
/// is in it. `live` is what is in `run`.
pub(crate) fn take(
    folder: &Path,
    run: &Path,
    (manifest, live): (&BundleManifest, &BundleProduct),
) -> Result<(File, BundleProduct), BundleError> {
    let (spare, partial) = (folder.join(SPARE), folder.join(PARTIAL));
    let io = |error| BundleError::write(&partial, error);
    let open = || OpenOptions::new().read(true).write(true).open(&partial);
    // One that somebody has changed would make a wrong bundle.
    let usable = manifest.spare.as_ref().filter(|made| product::is(&spare, made));
    if let Some(made) = usable {
        std::fs::rename(&spare, &partial).map_err(io)?;
        match open() {
            // A process still runs it, from when it was the bundle.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
            Err(error) => return Err(io(error)),
            Ok(file) if is_ours_alone(&file).map_err(io)? => return Ok((file, made.clone())),
            Ok(_) => {}
        }
    }
    let copy = temporary(folder)?;
    let original = File::open(run).map_err(|error| BundleError::io(run, error))?;
    let data = original.metadata().map_err(|error| BundleError::io(run, error))?;
    copy_range(&original, 0, copy.as_file(), 0, data.len()).map_err(io)?;
    copy.as_file().set_permissions(data.permissions()).map_err(io)?;
    copy.persist(&partial).map_err(|error| io(error.error))?;
    Ok((open().map_err(io)?, live.clone()))
}

/// Whether nobody would see that it changes: it has no other name, and no process has it open or
/// mapped, as a debugger or a copy under way has.
fn is_ours_alone(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() == 1 && os::lease::is_open_here_only(file))
}

/// The partial spare becomes the bundle, and the bundle the spare.
pub(crate) fn swap(folder: &Path, run: &Path, partial: &Path) -> io::Result<()> {
    let (former, spare) = (folder.join(FORMER), folder.join(SPARE));
    remove_one(&former)?;
    std::fs::hard_link(run, &former)?;
    std::fs::rename(partial, run)?;
    std::fs::rename(&former, &spare)?;
    File::open(folder)?.sync_all()
}
