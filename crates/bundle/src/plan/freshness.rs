//! What must be unchanged on disk for a bundle to stand for its program, and how that is seen
//! with a few looks.
//!
//! Files outside of what packages own are looked at one by one, at every launch. Of files that
//! packages own, which are replaced and never overwritten, the folders are looked at, and only
//! where one has changed each file. What the loader would take before a library, were it there,
//! must not be there.

use crate::choose::members;
use crate::error::BundleError;
use crate::plan::symlinks::follow;
use loader::Graph;
use loader::graph::Module;
use loader::search::{CACHE, CacheSources};
use startup::FileRecord;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Libraries that all programs load first (ld.so(8)).
const PRELOAD_FILE: &str = "/etc/ld.so.preload";
/// Folders that belong to a package manager.
const PACKAGED: [&str; 8] =
    ["/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store"];
/// But for these.
const LOCAL: [&str; 1] = ["/usr/local"];

/// Folders that are in the cache without being named.
const SYSTEM: [&str; 4] = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"];
/// Folders below each of them, for some processors only (ld.so(8), "Hardware capabilities").
const FOR_PROCESSORS: [&str; 7] = [
    "glibc-hwcaps/x86-64-v2",
    "glibc-hwcaps/x86-64-v3",
    "glibc-hwcaps/x86-64-v4",
    "tls",
    "haswell",
    "avx512_1",
    "x86_64",
];

/// What to look at.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// At every launch; a difference means that the bundle is stale.
    pub(crate) must: Vec<FileRecord>,
    /// At every launch; a difference means that `all` are to be looked at.
    pub(crate) hints: Vec<FileRecord>,
    /// Where a hint differs; a difference means that the bundle is stale.
    pub(crate) all: Vec<FileRecord>,
}

/// Looks at everything as it is now.
pub(crate) fn records(graph: &Graph) -> Result<Records, BundleError> {
    let mut paths = Paths::default();
    paths.must.insert(PRELOAD_FILE.into());
    paths.hints.insert(CACHE.into());
    let sources = CacheSources::read();
    paths.all.extend(sources.files);
    let system = SYSTEM.into_iter().map(PathBuf::from);
    let cached = sources.folders.into_iter().chain(system).map(|folder| follow(&folder).end);
    // In an administrator's own folder little happens: whatever does may be one of the libraries.
    let (cached, own): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) =
        cached.partition(|folder| is_packaged(folder));
    paths.all.extend(own);
    for (index, module) in graph.modules.iter().enumerate() {
        paths.module(module);
        let by_cache = index > 0 && is_packaged(&module.path);
        for folder in cached.iter().filter(|_| by_cache) {
            paths.cached(folder, module);
        }
    }
    let Paths { must, hints, all } = paths;
    Ok(Records { must: look(must)?, hints: look(hints)?, all: look(all)? })
}

#[derive(Default)]
struct Paths {
    must: BTreeSet<PathBuf>,
    hints: BTreeSet<PathBuf>,
    all: BTreeSet<PathBuf>,
}

impl Paths {
    fn module(&mut self, module: &Module) {
        self.present(&absolute(&module.path));
        // What is looked for in the working folder cannot be told by what was there then.
        for missed in module.missed.iter().filter(|missed| missed.is_absolute()) {
            if missed.exists() {
                // The loader has passed it over, as one for another machine.
                self.present(missed);
                continue;
            }
            self.absent(missed);
            let links = follow(missed);
            let nearest = links.end.ancestors().skip(1).find(|folder| folder.exists());
            self.hints.extend(nearest.map(Path::to_owned));
            self.hints.extend(links.folders);
        }
    }

    fn present(&mut self, file: &Path) {
        let links = follow(file);
        if is_packaged(file) && is_packaged(&links.end) {
            self.hints.extend(links.end.parent().map(Path::to_owned));
            self.hints.extend(links.folders);
            self.all.insert(file.to_owned());
        } else {
            self.must.insert(file.to_owned());
        }
    }

    /// What the cache could have for a library once it is made again.
    fn cached(&mut self, folder: &Path, module: &Module) {
        let name = members::name_of(module);
        let below = FOR_PROCESSORS.iter().map(|below| folder.join(below).join(&name));
        for path in below.chain([folder.join(&name)]) {
            if path.exists() {
                self.all.insert(path);
            } else {
                self.absent(&path);
            }
        }
    }

    /// Nothing may come to this path, or where it would have to begin.
    fn absent(&mut self, path: &Path) {
        let folder = path.ancestors().skip(1).find(|folder| folder.exists());
        let below = folder.and_then(|folder| path.strip_prefix(folder).ok()?.components().next());
        if let (Some(folder), Some(below), false) = (folder, below, path.exists()) {
            self.all.insert(folder.join(below));
        }
    }
}

fn look(paths: BTreeSet<PathBuf>) -> Result<Vec<FileRecord>, BundleError> {
    let record =
        |path: PathBuf| FileRecord::of(&path).map_err(|error| BundleError::io(&path, error));
    paths.into_iter().map(record).collect()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether a package manager keeps the files there.
fn is_packaged(path: &Path) -> bool {
    let within = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    within(&PACKAGED) && !within(&LOCAL)
}
