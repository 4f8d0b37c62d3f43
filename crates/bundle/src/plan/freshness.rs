//! What must be unchanged for a bundle to stand for its program, and how that is seen with a few looks.
//!
//! For a host: files outside of what packages own are looked at one by one, at every launch. Of files that
//! packages own, which are replaced and never overwritten, the folders are looked at, and only where one
//! has changed each file; of links in the root folder, where they lead. What the loader would take before a library, were it there, must not be there.
//! Where the loader's cache has changed, the names for which it was asked must lead to the same files.
//!
//! For images there are no folders to look at, as their times are those of unpacking: all files are looked
//! at, and what of them is the same in a copy.

use crate::error::BundleError;
use crate::plan::symlinks::{Followed, follow};
use loader::Graph;
use loader::graph::Module;
use loader::search::{CACHE, Cache};
use model::bundle::{BundleCheck, IMMUTABLE_FOLDERS};
use startup::{CachedName, FileRecord, LoadedBuild};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Libraries that all programs load first (ld.so(8)).
const PRELOAD_FILE: &str = "/etc/ld.so.preload";
/// Folders that belong to a package manager.
const PACKAGED: [&str; 8] =
    ["/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store"];
/// But for these.
const LOCAL: [&str; 1] = ["/usr/local"];

/// Which check is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check<'a> {
    pub(crate) kind: BundleCheck,
    /// Folders of the user's whose files never change.
    pub(crate) immutable: &'a [PathBuf],
}

impl Check<'_> {
    /// Whether what stands at a path is the same for ever.
    pub(crate) fn never_changes(&self, path: &Path) -> bool {
        let mut own = self.immutable.iter();
        let mut is_own = || own.any(|folder| path.starts_with(folder));
        self.kind == BundleCheck::Immutable && (is_in_store(path) || is_own())
    }

    /// Whether a file may be a copy of the one that was merged.
    pub(crate) fn may_be_copy(&self, path: &Path) -> bool {
        self.kind.is_for_copies() || self.never_changes(path)
    }
}

/// What to look at.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// At every launch; a difference means that the bundle is stale.
    pub(crate) must: Vec<FileRecord>,
    /// At every launch; a difference means that `all` and `cached` are to be looked at.
    pub(crate) hints: Vec<FileRecord>,
    /// Where a hint differs; a difference means that the bundle is stale.
    pub(crate) all: Vec<FileRecord>,
    /// The same, in the loader's cache.
    pub(crate) cached: Vec<CachedName>,
    /// What is loaded beside the bundle, at every launch.
    pub(crate) builds: Vec<LoadedBuild>,
}

impl Records {
    /// What a start says that has found nothing changed, also where it has taken a closer look.
    pub(crate) fn used(&self, kind: BundleCheck) -> String {
        let paths = self.must.len() + self.hints.len();
        format!(
            "the bundle is used (check {}: {paths} paths and {} build-ids at every start)",
            kind.word(),
            self.builds.len()
        )
    }
}

/// Looks at everything as it is now, also at other paths of the program.
pub(crate) fn records(
    graph: &Graph,
    check: Check<'_>,
    others: impl Iterator<Item = PathBuf>,
) -> Result<Records, BundleError> {
    let builds = if check.kind.is_for_copies() { builds(graph)? } else { Vec::new() };
    if check.kind == BundleCheck::Sealed {
        return Ok(Records { builds, ..Records::default() });
    }
    let mut paths = Paths::new(check);
    paths.must.insert(PRELOAD_FILE.into());
    paths.must.extend(others);
    for module in &graph.modules {
        paths.module(module);
    }
    let asked = graph.modules.iter().flat_map(|module| &module.asked_of_cache);
    let asked: BTreeSet<&str> = asked.map(String::as_str).collect();
    let mut cached = Vec::new();
    if !asked.is_empty() {
        match Cache::read(Path::new(CACHE)) {
            // What a start could not read has to stay as it is.
            Some(cache) if !cache.is_new() => paths.must.insert(CACHE.into()),
            cache => {
                let machine = &graph.program().image.machine;
                cached = asked.iter().map(|name| in_cache(cache.as_ref(), name, machine)).collect();
                paths.hints.insert(CACHE.into())
            }
        };
    }
    let Paths { must, must_lead, hints, hints_lead, all, .. } = paths;
    let (mut must, mut hints) = (look(must, check)?, look(hints, check)?);
    must.extend(targets(must_lead)?);
    hints.extend(targets(hints_lead)?);
    let all = look(all, check)?;
    Ok(Records { must, hints, all, cached, builds })
}

fn in_cache(cache: Option<&Cache>, name: &str, machine: &str) -> CachedName {
    let name = model::text::name(name);
    let paths = cache.map_or_else(Vec::new, |cache| cache.decisive(name.as_bytes(), machine));
    let paths = paths.into_iter().map(|path| OsStr::from_bytes(path).into()).collect();
    CachedName { paths, name }
}

/// Whether this is the C library or the loader.
pub(crate) fn is_base(graph: &Graph, module: &Module) -> bool {
    let name = module.path.file_name().unwrap_or_default().as_bytes();
    module.path == graph.interpreter || name.starts_with(b"libc.so.")
}

/// Which build of a library this is, if that can be told.
pub(super) fn build(module: &Module) -> Option<LoadedBuild> {
    let name = module.path.file_name().unwrap_or_default().to_owned();
    let id = module.image.build_id.as_deref().and_then(bytes_of_hex)?;
    Some(LoadedBuild { name, id })
}

/// The C library and the loader, which have to be those with which the bundle was proved.
fn builds(graph: &Graph) -> Result<Vec<LoadedBuild>, BundleError> {
    let build = |module: &Module| {
        build(module).ok_or_else(|| {
            let reason = format!(
                "{} has no build-id, and without one the bundle could not tell whether the one on another \
                 machine is the same",
                module.path.display()
            );
            BundleError::declined(&graph.program().path, reason)
        })
    };
    let base = graph.modules.iter().filter(|module| is_base(graph, module));
    let found = base.map(build).collect::<Result<Vec<_>, _>>()?;
    match found.is_empty() {
        true => {
            let reason = "it does not load the C library, and without that the bundle could not tell one \
                          system from another";
            Err(BundleError::declined(&graph.program().path, reason))
        }
        false => Ok(found),
    }
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()).collect()
}

struct Paths<'a> {
    check: Check<'a>,
    must: BTreeSet<PathBuf>,
    /// Links that must lead to where they lead now.
    must_lead: BTreeSet<PathBuf>,
    hints: BTreeSet<PathBuf>,
    hints_lead: BTreeSet<PathBuf>,
    all: BTreeSet<PathBuf>,
}

impl<'a> Paths<'a> {
    fn new(check: Check<'a>) -> Paths<'a> {
        let none = BTreeSet::new;
        let (must, must_lead) = (none(), none());
        Paths { check, must, must_lead, hints: none(), hints_lead: none(), all: none() }
    }

    fn module(&mut self, module: &Module) {
        self.present(&absolute(&module.path));
        // What is looked for in the working folder cannot be told by what was there then.
        for missed in module.missed.iter().filter(|missed| missed.is_absolute()) {
            if missed.exists() {
                // The loader has passed it over, as one for another machine.
                self.present(missed);
            } else {
                self.absent(missed);
            }
        }
    }

    fn present(&mut self, file: &Path) {
        let links = follow(file);
        if self.never_changes(&links) {
            self.must_lead.extend(links.of_root);
            return;
        }
        let by_folder = self.check.kind != BundleCheck::Image;
        if by_folder && is_packaged(file) && is_packaged(&links.end) {
            self.hints.extend(links.end.parent().map(Path::to_owned));
            self.hints.extend(links.folders);
            self.hints_lead.extend(links.of_root);
            self.all.insert(file.to_owned());
        } else {
            self.must.insert(file.to_owned());
        }
    }

    /// Whether the end of a path and all links on the way, but for those in the root, are the same for ever.
    fn never_changes(&self, links: &Followed) -> bool {
        let mut ways = links.folders.iter().chain([&links.end]);
        ways.all(|path| self.check.never_changes(path))
    }

    /// Nothing may come to this path, or where it would have to begin.
    fn absent(&mut self, path: &Path) {
        let links = follow(path);
        if self.never_changes(&links) {
            self.must_lead.extend(links.of_root);
            return;
        }
        let folder = path.ancestors().skip(1).find(|folder| folder.exists());
        let below = folder.and_then(|folder| path.strip_prefix(folder).ok()?.components().next());
        let begins = folder.zip(below).map(|(folder, below)| folder.join(below));
        if self.check.kind == BundleCheck::Image {
            // Nothing comes into what is in a store.
            self.must.extend(begins.filter(|begins| !is_in_store(begins)));
            return;
        }
        self.all.extend(begins);
        let nearest = links.end.ancestors().skip(1).find(|folder| folder.exists());
        self.hints.extend(nearest.map(Path::to_owned));
        self.hints.extend(links.folders);
        self.hints_lead.extend(links.of_root);
    }
}

fn targets(links: BTreeSet<PathBuf>) -> Result<Vec<FileRecord>, BundleError> {
    let record =
        |link: PathBuf| FileRecord::of_link(&link).map_err(|error| BundleError::io(&link, error));
    links.into_iter().map(record).collect()
}

fn look(paths: BTreeSet<PathBuf>, check: Check<'_>) -> Result<Vec<FileRecord>, BundleError> {
    let record = |path: PathBuf| {
        let record = FileRecord::of(&path).map_err(|error| BundleError::io(&path, error))?;
        Ok(if check.kind == BundleCheck::Image { record.of_copies() } else { record })
    };
    paths.into_iter().map(record).collect()
}

fn is_in_store(path: &Path) -> bool {
    IMMUTABLE_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether a package manager keeps the files there.
fn is_packaged(path: &Path) -> bool {
    let within = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    within(&PACKAGED) && !within(&LOCAL)
}
