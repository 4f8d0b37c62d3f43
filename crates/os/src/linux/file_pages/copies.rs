//! Copies that take the place of files which other programs keep in memory, for one launch.
//!
//! What somebody has mapped does not leave memory, so nothing tells which pages of it a launch needs:
//! the C library, the loader, and whatever else headstart itself or another program uses. A copy that
//! nobody else knows does leave memory. It is on the same file system, and mounted over the file in a
//! mount namespace of the calling thread, which the launch inherits and nobody else sees. The kernel
//! ends the mounts with the last process in it, whoever is killed.
//!
//! A copy loses its name as soon as it is mounted, so that it goes with the mount. Only that of a program
//! keeps it until the end of the launch, because programs find their files by the name in
//! `/proc/self/exe`; a guardian removes it where headstart is killed.

mod copy;

use super::watched::CacheIdentity;
use crate::linux::cache;
use crate::linux::error::LaunchError;
use crate::linux::host::is_always_in_memory;
use crate::linux::interrupt;
use crate::linux::kept_copy::guardian::Guardian;
use crate::linux::mount_space::MountSpace;
use crate::linux::perf::kernel_device;
use crate::linux::residency::resident_pages;
use copy::{KeepsName, LOADER_CACHE, Original};
use files::Draft;
use model::text;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a process may take that is ending, and so still has pages mapped.
const ENDING: Duration = Duration::from_millis(20);
/// Bytes of all copies together.
const MOST_BYTES: u64 = 2 << 30;

/// What becomes of files that other programs keep in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldFiles {
    /// The launch uses them. Which of the pages in memory it needs is not known.
    Used,
    /// The launch uses copies of those that were not changed since then: what it writes to is not
    /// copied. The others are as with [`HeldFiles::Used`], and the reason is told.
    Copied {
        /// When the launches began that have shown which files are used.
        unchanged_since: SystemTime,
    },
}

/// The copies of one launch. They go when this is dropped and the launch has ended.
#[derive(Default)]
pub(super) struct Copies {
    /// The files in whose place they are: what is read of these meanwhile is not the launch's.
    pub(super) originals: HashSet<CacheIdentity>,
    /// Files that have none, and why.
    pub(super) missing: Vec<(PathBuf, String)>,
    named: Vec<Copy>,
}

/// A copy that has a name. It goes before its guardian, where it has one.
struct Copy {
    draft: Draft,
    guardian: Option<Guardian>,
}

impl Copy {
    fn make(original: &Original, place: &Path) -> Result<Copy, String> {
        let guardian = match original.keeps_name() {
            KeepsName::No => None,
            KeepsName::Yes => {
                let started = Guardian::before_copy(place);
                Some(started.map_err(|error| format!("its copy cannot be guarded: {error}"))?)
            }
        };
        Ok(Copy { draft: original.copy_at(place)?, guardian })
    }
}

impl Copies {
    /// Puts copies in the place of those of `paths` of which pages stay in memory, for the calling
    /// thread and what it starts from now on.
    ///
    /// # Errors
    /// [`LaunchError::Interrupted`]. A file that cannot be copied is as before, and is listed.
    pub(super) fn mount(paths: &[&Path], since: SystemTime) -> Result<Copies, LaunchError> {
        let mut copies = Copies::default();
        let held = held(paths);
        if held.is_empty() {
            return Ok(copies);
        }
        let space = match MountSpace::enter() {
            Ok(space) => space,
            Err(error) => {
                let reason = format!("no file can be mounted here for the launch alone: {error}");
                copies.missing = held.into_iter().map(|path| (path, reason.clone())).collect();
                return Ok(copies);
            }
        };
        let mut left = MOST_BYTES;
        let names = names(&held);
        for path in held {
            if interrupt::requested() {
                return Err(LaunchError::Interrupted);
            }
            let is_only_name = identity(&path).is_none_or(|own| names.get(&own) == Some(&1));
            let added = match is_only_name {
                true => copies.add(&path, since, &space, left),
                false => Err("the launch uses it by several names".to_owned()),
            };
            match added {
                Ok(bytes) => left = left.saturating_sub(bytes),
                Err(reason) => copies.missing.push((path, reason)),
            }
        }
        Ok(copies)
    }

    /// Puts a copy in the place of one file; the bytes of it, or why there is none.
    fn add(
        &mut self,
        path: &Path,
        since: SystemTime,
        space: &MountSpace,
        most_bytes: u64,
    ) -> Result<u64, String> {
        let original = Original::open(path, since, most_bytes)?;
        let copy = original.places().iter().fold(None, |made, place| match made {
            Some(Ok(copy)) => Some(Ok(copy)),
            None => Some(Copy::make(&original, place)),
            // The reason that is told is that of the file's own folder.
            Some(Err(reason)) => Some(Copy::make(&original, place).map_err(|_| reason)),
        });
        let copy = copy.unwrap_or_else(|| Err("there is no place for its copy".to_owned()))?;
        let mounted = space.cover(copy.draft.file(), path);
        mounted.map_err(|error| format!("its copy cannot be mounted: {error}"))?;
        let data = original.metadata();
        let device = kernel_device(libc::major(data.dev()), libc::minor(data.dev()));
        self.originals.insert((device, data.ino()));
        self.named.extend(Some(copy).filter(|copy| copy.guardian.is_some()));
        Ok(data.len())
    }

    /// [`Copies::missing`], as text.
    pub(super) fn missing_as_text(&self) -> Vec<(String, String)> {
        self.missing.iter().map(|(path, reason)| (text::text(path), reason.clone())).collect()
    }
}

/// Device and inode.
fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|data| (data.dev(), data.ino()))
}

/// By how many of these paths each file is named. Copies would make several files of one, and the
/// loader of libraries tells them apart.
fn names(paths: &[PathBuf]) -> HashMap<(u64, u64), u32> {
    let mut names = HashMap::new();
    for own in paths.iter().filter_map(|path| identity(path)) {
        *names.entry(own).or_default() += 1;
    }
    names
}

/// Evicts all; those of which pages stay in memory all the same, and which have storage. What every
/// program reads that is started meanwhile is taken for one of them.
fn held(paths: &[&Path]) -> Vec<PathBuf> {
    let stays = |path: &&&Path| {
        if **path == Path::new(LOADER_CACHE) {
            return true;
        }
        let resident = resident_pages(path).ok().and_then(|(_, resident)| resident.get());
        resident.is_some_and(|pages| pages > 0)
    };
    cache::evict(paths);
    let mut held: Vec<&Path> = paths.iter().filter(stays).copied().collect();
    if !held.is_empty() {
        std::thread::sleep(ENDING);
        cache::evict(&held);
        held.retain(|path| stays(&path));
        held.retain(|path| !is_always_in_memory(path));
    }
    held.into_iter().map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests;
