//! A new bundle gets its names: the next manifest, `run`, then the manifest's own name. Whenever
//! headstart is killed, one of the two manifests is that of the `run` that is there.

use crate::error::BundleError;
use crate::make::RUN;
use crate::write::manifest::{MANIFEST, PENDING};
use crate::write::ownership::Owned;
use crate::write::product;
use crate::write::spare::SPARE;
use files::{Draft, Permit};
use model::bundle::{BundleManifest, BundleProduct};
use std::fs::File;
use std::path::Path;
use std::thread::Builder;

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

/// Gives the bundle its name, if what had it is still what it was.
pub(crate) fn give_name(draft: Draft, run: &Path, owned: &Owned) -> Result<(), BundleError> {
    let named = if owned.still()? { draft.replace() } else { draft.name() };
    named.map_err(|error| BundleError::write(run, error.into()))
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

/// The next manifest is that of `run` now. It gets, and is given back with, the times that files
/// have once they have their names.
pub(crate) fn finish(folder: &Path, next: BundleManifest) -> Result<BundleManifest, BundleError> {
    let dated = |name, made: Option<BundleProduct>| {
        made.map(|made| product::with_change_time(&folder.join(name), made))
    };
    let (product, spare) = (dated(RUN, next.product), dated(SPARE, next.spare));
    let pending = folder.join(PENDING);
    let manifest = BundleManifest { product, spare, ..next };
    write_whole(folder, MANIFEST, &json(&manifest, &pending)?)?;
    let removed = std::fs::remove_file(&pending);
    let synced = removed.and_then(|()| Ok(files::sync_folder_of(&pending)?));
    synced.map_err(|error| BundleError::write(&pending, error))?;
    Ok(manifest)
}

/// Writes a manifest, which is on the disk then.
pub(crate) fn write_manifest(
    manifest: &BundleManifest,
    folder: &Path,
    name: &str,
) -> Result<(), BundleError> {
    write_whole(folder, name, &json(manifest, &folder.join(name))?)
}

fn json(manifest: &BundleManifest, path: &Path) -> Result<Vec<u8>, BundleError> {
    let text = serde_json::to_vec_pretty(manifest);
    let mut text = text.map_err(|error| BundleError::io(path, error.into()))?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a file of the bundle, which is on the disk then.
pub(crate) fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
    let path = folder.join(name);
    let written = files::write_over(&path, bytes, Permit::Exactly(0o644));
    written.map_err(|error| BundleError::write(&path, error.into()))
}
