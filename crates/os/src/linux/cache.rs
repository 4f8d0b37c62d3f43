//! Emptying the page cache, and checking what is left.
//!
//! Evicting a launch's files leaves the same pages behind as dropping everything: those that
//! other processes hold mapped (libc, the loader) and those that are dirty. The file system's
//! own blocks, folders and inodes stay in memory; only a remount clears them. [`check`] counts what
//! stayed, so that a result says how cold its launches really were.

mod evict;
mod eviction;
mod files;
mod holders;
mod remount;
mod status;
mod walk;

pub use super::residency::page_bytes;
pub use evict::{Evicted, evict};
pub use eviction::{EvictError, EvictedFiles, evict_files};
pub use files::{MappedFiles, ObservedFiles, mapped_files, observed_files};
pub use holders::{Holders, holders};
pub use remount::RemountError;
pub use status::{metadata, shared_with_layers, status};
pub use walk::{MOST_FILES, NamedFiles, named_files};

use super::residency::resident_pages;
use model::{CacheState, ColdCheck, Reading};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long a process may take that is ending.
const ENDING: Duration = Duration::from_millis(20);
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Why the page cache could not be dropped.
#[derive(Debug, thiserror::Error)]
pub enum DropError {
    /// Only root may.
    #[error(
        "dropping the page cache needs root (writing {DROP_CACHES}: {0}); run headstart as root; \
         without root single files can be evicted"
    )]
    NotPermitted(io::Error),
    /// The kernel has no such switch, or a container hides it.
    #[error("{DROP_CACHES} cannot be written: {0}; run outside of the container")]
    Failed(io::Error),
}

/// Writes dirty pages out and drops every clean page, folder entry and inode from memory.
///
/// # Errors
/// [`DropError::NotPermitted`] for everybody but root.
pub fn drop_all() -> Result<(), DropError> {
    rustix::fs::sync();
    write_drop("3")
}

/// Whether [`drop_all`] is permitted. Nothing is dropped.
///
/// # Errors
/// [`DropError`], as dropping would.
pub fn may_drop() -> Result<(), DropError> {
    File::options().write(true).open(DROP_CACHES).map(drop).map_err(refused)
}

/// `1`: pages; `3`: also names and inodes.
fn write_drop(what: &str) -> Result<(), DropError> {
    std::fs::write(DROP_CACHES, what).map_err(refused)
}

fn refused(error: io::Error) -> DropError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => DropError::NotPermitted(error),
        _ => DropError::Failed(error),
    }
}

/// Evicts these files, and counts what stays in memory.
pub fn emptied_of<P: AsRef<Path>>(paths: &[P]) -> ColdCheck {
    let emptied = || {
        evict(paths);
        check(paths, CacheState::ColdEvicted)
    };
    let found = emptied();
    if found.resident_pages.get() == Some(0) {
        return found;
    }
    // A process that is ending may have had pages mapped.
    std::thread::sleep(ENDING);
    emptied()
}

/// How much of `paths` is still in memory after the cache was emptied as `state` says.
pub fn check<P: AsRef<Path>>(paths: &[P], state: CacheState) -> ColdCheck {
    let (mut files, mut total_pages, mut resident) = (0, 0, 0);
    let mut unknown = None;
    for path in paths {
        match resident_pages(path.as_ref()) {
            Ok((total, reading)) => {
                files += 1;
                total_pages += total;
                match reading {
                    Reading::Value(pages) => resident += pages,
                    missing => unknown = Some(missing),
                }
            }
            Err(error) => {
                let reason = format!("{}: {error}", path.as_ref().display());
                unknown.get_or_insert(Reading::unavailable(reason, ""));
            }
        }
    }
    let resident_pages = unknown.unwrap_or(Reading::Value(resident));
    ColdCheck { state, files, total_pages, resident_pages }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::residency::page_bytes;
    use std::os::fd::AsRawFd;

    #[test]
    fn evicts_a_file_of_ours_although_it_is_dirty() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &vec![1; 100 * page_bytes() as usize]).unwrap();
        let paths = [file.path()];
        assert_eq!(check(&paths, CacheState::Warm).resident_pages.get(), Some(100));
        let evicted = evict(&paths);
        assert_eq!((evicted.files, evicted.failed.len()), (1, 0));
        let after = check(&paths, CacheState::ColdEvicted);
        if after.resident_pages.get() == Some(100) {
            testkit::skip("the folder for temporary files is in memory");
            return;
        }
        assert_eq!((after.files, after.total_pages), (1, 100));
        assert_eq!(after.resident_pages.get(), Some(0));
    }

    #[test]
    fn what_a_process_holds_mapped_stays_and_is_counted() {
        const PAGES: usize = 64;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let bytes = PAGES * page_bytes() as usize;
        io::Write::write_all(&mut file, &vec![1; bytes]).unwrap();
        let paths = [file.path()];
        // SAFETY: a fresh mapping of the whole file, read and unmapped here.
        unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
            let fd = file.as_file().as_raw_fd();
            let start = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, flags, fd, 0);
            assert_ne!(start, libc::MAP_FAILED);
            assert_eq!(evict(&paths).files, 1);
            let held = check(&paths, CacheState::ColdEvicted).resident_pages;
            assert_eq!(held.get(), Some(PAGES as u64));
            libc::munmap(start, bytes);
        }
        evict(&paths);
        let free = check(&paths, CacheState::ColdEvicted).resident_pages.get();
        if free == Some(PAGES as u64) {
            testkit::skip("the folder for temporary files is in memory");
            return;
        }
        assert_eq!(free, Some(0));
    }

    #[test]
    fn names_files_that_cannot_be_evicted_or_checked() {
        let paths = ["/no/such/file"];
        let evicted = evict(&paths);
        assert_eq!((evicted.files, evicted.failed.len()), (0, 1));
        let found = check(&paths, CacheState::ColdEvicted);
        assert!(found.resident_pages.reason().unwrap().contains("/no/such/file"));
    }
}
