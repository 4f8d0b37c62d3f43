//! Evicting files: posix_fadvise(POSIX_FADV_DONTNEED), which needs no more than the right to read.

use crate::linux::residency::{cachestat, open};
use rustix::fs::{Advice, fadvise};
use rustix::process::geteuid;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What [`evict`] could not do.
#[derive(Debug, Default)]
pub struct Evicted {
    /// Files asked to leave memory.
    pub files: u32,
    /// Files that could not be opened, with the reason.
    pub failed: Vec<(PathBuf, io::Error)>,
}

/// Evicts exactly these files. Dirty pages stay, so files of the user's own are written out first.
pub fn evict<P: AsRef<Path>>(paths: &[P]) -> Evicted {
    evict_each(paths, true)
}

/// Evicts exactly these files, as far as their pages are written.
pub(super) fn without_writing<P: AsRef<Path>>(paths: &[P]) -> Evicted {
    evict_each(paths, false)
}

fn evict_each<P: AsRef<Path>>(paths: &[P], write: bool) -> Evicted {
    let mut evicted = Evicted::default();
    for path in paths {
        match evict_file(path.as_ref(), write) {
            Ok(()) => evicted.files += 1,
            Err(error) => evicted.failed.push((path.as_ref().to_owned(), error)),
        }
    }
    evicted
}

fn evict_file(path: &Path, write: bool) -> io::Result<()> {
    let file = open(path)?;
    let own = write && file.metadata()?.uid() == geteuid().as_raw();
    if own && !cachestat(&file).is_ok_and(|found| found.dirty == 0) {
        file.sync_data()?;
    }
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}
