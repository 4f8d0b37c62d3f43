//! A new bundle gets its names: the next manifest, `run`, then the manifest's own name. Whenever
//! headstart is killed, one of the two manifests is that of the `run` that is there.

use crate::error::BundleError;
use crate::manifest::{MANIFEST, PENDING};
use crate::ownership::Owned;
use crate::workplace::temporary;
use model::bundle::BundleManifest;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::thread::Builder;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::NamedTempFile;

/// Does `work` while the file, which will be at `path`, goes to the disk.
pub(crate) fn synced_meanwhile<T>(
    file: &File,
    path: &Path,
    work: impl FnOnce() -> T,
) -> Result<T, BundleError> {
    std::thread::scope(|scope| {
        let synced = Builder::new().spawn_scoped(scope, || file.sync_all());
        let done = work();
        // Without a thread it goes there now.
        let synced = synced.map_or_else(|_| Ok(file.sync_all()), |thread| thread.join());
        let synced = synced.unwrap_or_else(|_| file.sync_all());
        synced.map(|()| done).map_err(|error| BundleError::write(path, error))
    })
}

/// Gives the file its name, if what had it is still what it was.
pub(crate) fn give_name(file: NamedTempFile, run: &Path, owned: &Owned) -> Result<(), BundleError> {
    let replaces = owned.still()?;
    let named = if replaces { file.persist(run) } else { file.persist_noclobber(run) };
    named.map(drop).map_err(|error| BundleError::write(run, error.error))
}

/// What does not get its place has no manifest.
pub(crate) fn withdraw_manifest(folder: &Path) {
    // What went wrong before is what matters.
    let _ = std::fs::remove_file(folder.join(PENDING));
}

/// Ends what an earlier headstart did not finish.
pub(crate) fn settle(owned: &Owned, folder: &Path) -> Result<(), BundleError> {
    owned.settle().map_err(|error| BundleError::write(&folder.join(MANIFEST), error))
}

/// The next manifest is that of `run` now.
pub(crate) fn finish(folder: &Path) -> Result<(), BundleError> {
    let path = folder.join(MANIFEST);
    let renamed = std::fs::rename(folder.join(PENDING), &path);
    // Without this, files are read to be known again, as after any doubt.
    let _ = dated(&path);
    let synced = renamed.and_then(|()| File::open(folder)?.sync_all());
    synced.map_err(|error| BundleError::write(&path, error))
}

/// The manifest's time says when the folder was as it tells, by the clock of its file system: that
/// of the rename, which is the last change there.
fn dated(manifest: &Path) -> io::Result<()> {
    let file = File::options().write(true).open(manifest)?;
    let data = file.metadata()?;
    let seconds = u64::try_from(data.ctime()).map_err(io::Error::other)?;
    file.set_modified(UNIX_EPOCH + Duration::new(seconds, data.ctime_nsec() as u32))
}

/// Writes a manifest, which is on the disk then.
pub(crate) fn write_manifest(
    manifest: &BundleManifest,
    folder: &Path,
    name: &str,
) -> Result<(), BundleError> {
    let text = serde_json::to_vec_pretty(manifest);
    let mut text = text.map_err(|error| BundleError::io(&folder.join(name), error.into()))?;
    text.push(b'\n');
    write_whole(folder, name, &text)?;
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| BundleError::write(folder, error))
}

pub(crate) fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
    let path = folder.join(name);
    let io = |error| BundleError::write(&path, error);
    let mut file = temporary(folder)?;
    file.write_all(bytes).map_err(io)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(&path).map_err(|error| io(error.error))?;
    Ok(())
}
