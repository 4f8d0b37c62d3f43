//! New files of a set that get their names together, once all of them are on the disk: until then
//! nobody sees any of them, and where one cannot be made there is none.

use super::ApplyError;
use super::atomic::{Unnamed, sync_folders};
use super::batch::take_back;
use rayon::prelude::*;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Descriptors that are used for other things meanwhile.
const OTHERS: u64 = 128;
/// A file system that answers sooner has nothing to wait for.
const AT_ONCE: Duration = Duration::from_micros(50);
/// Files that wait for the disk together share the commits of its journal.
const WAITING: usize = 64;

/// New files of a set, written by several threads, that have no names yet.
#[derive(Debug, Default)]
pub struct Held {
    files: Mutex<Vec<(PathBuf, Unnamed)>>,
}

impl Held {
    /// Room for so many files; `None` where the process may not have as many open. The limit is
    /// raised as far as it may be.
    pub fn room_for(files: usize) -> Option<Held> {
        let needed = (files as u64).saturating_add(OTHERS);
        let limit = getrlimit(Resource::Nofile);
        if limit.current.is_some_and(|current| current < needed) {
            if limit.maximum.is_some_and(|maximum| maximum < needed) {
                return None;
            }
            setrlimit(Resource::Nofile, Rlimit { current: Some(needed), ..limit }).ok()?;
        }
        grow_table(needed);
        Some(Held::default())
    }

    /// Writes a new file with these permissions, without its name.
    ///
    /// # Errors
    /// Its folder cannot be written to, or the disk is full.
    pub fn write(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), ApplyError> {
        let file = Unnamed::unsynced(path, std::iter::once(content), mode)?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push((path.to_owned(), file));
        Ok(())
    }

    /// Puts all files on the disk, and then gives all of them their names.
    ///
    /// # Errors
    /// There is one of that name, or the system refuses. Names that were given are taken back.
    pub fn name_all(self) -> Result<(), ApplyError> {
        let files = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        sync(&files)?;
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let named: Mutex<Vec<PathBuf>> = Mutex::default();
        let name = |(path, file): (PathBuf, Unnamed)| {
            file.name(&path)?;
            named.lock().unwrap_or_else(PoisonError::into_inner).push(path);
            Ok(())
        };
        let done = files.into_par_iter().try_for_each(name);
        let done = done.and_then(|()| sync_folders(paths.iter().map(PathBuf::as_path)));
        let named = named.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.map_err(|error| take_back(error, &named, Vec::new()))
    }
}

/// Makes the table of descriptors as large as it will be. Where several threads have it, Linux waits
/// for all of them whenever it doubles, some ten milliseconds each time.
fn grow_table(descriptors: u64) {
    let highest = i32::try_from(descriptors.saturating_sub(1)).unwrap_or(i32::MAX);
    if let Ok(root) = File::open("/") {
        // Without it everything is as it is, only slower.
        let _ = rustix::io::fcntl_dupfd_cloexec(root, highest);
    }
}

fn sync(files: &[(PathBuf, Unnamed)]) -> Result<(), ApplyError> {
    let one = |(path, file): &(PathBuf, Unnamed)| {
        file.file.sync_all().map_err(ApplyError::io(path, "writing it"))
    };
    let Some((first, rest)) = files.split_first() else { return Ok(()) };
    let began = Instant::now();
    one(first)?;
    if began.elapsed() < AT_ONCE {
        return rest.par_iter().try_for_each(one);
    }
    let each = rest.len().div_ceil(WAITING).max(1);
    std::thread::scope(|scope| {
        let threads =
            rest.chunks(each).map(|files| scope.spawn(move || files.iter().try_for_each(one)));
        let threads: Vec<_> = threads.collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        let failed = |_| ApplyError::refused(&first.0, "a thread of headstart failed; try again");
        ended.map(|ended| ended.map_err(failed)?).try_for_each(|synced| synced)
    })
}
