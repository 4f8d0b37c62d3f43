//! What must be unchanged on disk for a bundle to stand for its program, and how that is seen
//! with a few looks.
//!
//! Files outside of what packages own are looked at one by one, at every launch. Of files that
//! packages own, which are replaced and never overwritten, the folders are looked at, and only
//! where one has changed each file.

use crate::error::BundleError;
use crate::members::Place;
use loader::Graph;
use os::startup_guard::Record;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Libraries that all programs load first (ld.so(8)).
const PRELOAD_FILE: &str = "/etc/ld.so.preload";
/// What the loader looks names up in.
const CACHE: &str = "/etc/ld.so.cache";
/// What the cache is made from.
const CACHE_SOURCES: [&str; 2] = ["/etc/ld.so.conf", "/etc/ld.so.conf.d"];
/// Folders that belong to a package manager.
const PACKAGED: [&str; 5] = ["/usr", "/lib", "/lib32", "/lib64", "/libx32"];
/// But for these.
const LOCAL: [&str; 1] = ["/usr/local"];
/// Folder with variants of libraries for newer processors.
const VARIANTS: &str = "glibc-hwcaps";

/// What to look at.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// At every launch; a difference means that the bundle is stale.
    pub(crate) must: Vec<Record>,
    /// At every launch; a difference means that `all` are to be looked at.
    pub(crate) hints: Vec<Record>,
    /// Where a hint differs; a difference means that the bundle is stale.
    pub(crate) all: Vec<Record>,
}

/// Looks at everything as it is now.
pub(crate) fn records(graph: &Graph, places: &[Place]) -> Result<Records, BundleError> {
    let mut must: BTreeSet<PathBuf> = BTreeSet::from([PRELOAD_FILE.into()]);
    must.extend(CACHE_SOURCES.map(PathBuf::from));
    let mut hints: BTreeSet<PathBuf> = BTreeSet::from([CACHE.into()]);
    let mut all: BTreeSet<PathBuf> = BTreeSet::new();
    for (module, place) in graph.modules.iter().zip(places) {
        let file = absolute(&module.path);
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if is_packaged(&file) && is_packaged(&real) && place.is_merged() {
            let folders = [&file, &real].into_iter().filter_map(|path| path.parent());
            hints.extend(folders.map(resolved));
            all.insert(file);
        } else {
            must.insert(file);
        }
        for missed in &module.missed {
            hints.extend(missed.parent().map(resolved));
            all.insert(missed.clone());
        }
    }
    let variants: Vec<PathBuf> = hints.iter().map(|folder| folder.join(VARIANTS)).collect();
    all.extend(variants.into_iter().filter(|folder| !folder.exists()));
    Ok(Records { must: look(must)?, hints: look(hints)?, all: look(all)? })
}

fn look(paths: BTreeSet<PathBuf>) -> Result<Vec<Record>, BundleError> {
    let record = |path: PathBuf| Record::of(&path).map_err(|error| BundleError::io(&path, error));
    paths.into_iter().map(record).collect()
}

/// A shorter way to the same folder is a faster one.
fn resolved(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether a package manager keeps the files there.
pub(crate) fn is_packaged(path: &Path) -> bool {
    let within = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    within(&PACKAGED) && !within(&LOCAL)
}
