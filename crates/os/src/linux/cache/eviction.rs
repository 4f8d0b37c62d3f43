//! Evicting chosen files, and telling what stayed and why.

use super::holders::{Holders, holders};
use super::remount::{RemountError, remount};
use super::{DropError, ENDING, evict, status, write_drop};
use crate::linux::host::file_system;
use crate::linux::residency;
use model::{
    CacheTotals, CachedFile, EvictedFile, EvictionLevel, MappingProcess, Reading, SkippedPath, text,
};
use rustix::process::geteuid;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Pages that the kernel still holds for a moment (their addition to its lists, the end of a
/// process that had them mapped) leave with the second or third attempt.
const ATTEMPTS: usize = 3;
/// File systems whose files are nowhere else.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

/// Why nothing was evicted.
#[derive(Debug, thiserror::Error)]
pub enum EvictError {
    /// The page cache could not be dropped.
    #[error(transparent)]
    Drop(#[from] DropError),
    /// A file system could not be mounted anew.
    #[error(transparent)]
    Remount(#[from] RemountError),
}

impl EvictError {
    /// Whether only root may.
    pub fn is_permission(&self) -> bool {
        match self {
            EvictError::Drop(error) => matches!(error, DropError::NotPermitted(_)),
            EvictError::Remount(error) => matches!(error, RemountError::NotPermitted),
        }
    }
}

/// What was evicted.
#[derive(Debug)]
pub struct EvictedFiles {
    /// Each file, in the order in which they were given.
    pub files: Vec<EvictedFile>,
    /// Sums before.
    pub before: CacheTotals,
    /// Sums after.
    pub after: CacheTotals,
    /// Processes that the caller may not look into.
    pub hidden_processes: u64,
    /// Mount points that were mounted anew.
    pub remounted: Vec<PathBuf>,
    /// Files that cannot be read.
    pub skipped: Vec<SkippedPath>,
}

/// Evicts regular files (paths without links) as `level` says. The kernel begins to write changed
/// pages when they are to leave; where `sync` is set, that is waited for: of the caller's own files,
/// as root of all. Dropping and mounting anew write everything in any case.
///
/// # Errors
/// [`EvictError`], before anything has left memory; where several file systems are mounted anew, the
/// error names those for which it comes too late. A file that cannot be read is no error.
pub fn evict_files(
    files: &[PathBuf],
    level: EvictionLevel,
    sync: bool,
) -> Result<EvictedFiles, EvictError> {
    let mut skipped = Vec::new();
    let mut before = Vec::new();
    for path in files {
        match status(path) {
            Ok(found) => before.push((path.as_path(), found)),
            Err(error) => {
                skipped.push(SkippedPath { path: text::text(path), reason: error.to_string() });
            }
        }
    }
    let paths: Vec<&Path> = before.iter().map(|(path, _)| *path).collect();
    let mut remounted = Vec::new();
    match level {
        EvictionLevel::File => evict_pages(&paths, sync),
        EvictionLevel::Drop => drop_pages()?,
        EvictionLevel::Remount => remounted = remount(&paths)?,
    }
    let after: Vec<CachedFile> = before.iter().map(|(path, was)| now(path, was)).collect();
    let holders = holders(&stayed(&before, &after));
    let each = before.iter().zip(&after);
    Ok(EvictedFiles {
        files: each.map(|((path, was), is)| evicted(path, was, is, &holders)).collect(),
        before: CacheTotals::of(&before.iter().map(|(_, was)| was.clone()).collect::<Vec<_>>()),
        after: CacheTotals::of(&after),
        hidden_processes: holders.hidden,
        remounted,
        skipped,
    })
}

/// Files of which pages stayed, or of which it is not known.
fn stayed<'a>(before: &[(&'a Path, CachedFile)], after: &[CachedFile]) -> Vec<&'a Path> {
    let each = before.iter().zip(after);
    let some = each.filter(|(_, is)| is.pages > 0 && is.resident_pages.get() != Some(0));
    some.map(|((path, _), _)| *path).collect()
}

/// A file that is gone or cut meanwhile has no page in memory that could be counted.
fn now(path: &Path, was: &CachedFile) -> CachedFile {
    status(path).unwrap_or_else(|error| CachedFile {
        resident_pages: Reading::unavailable(error.to_string(), ""),
        dirty_pages: Reading::unavailable(error.to_string(), ""),
        ..was.clone()
    })
}

fn evict_pages(paths: &[&Path], sync: bool) {
    if sync {
        // What cannot be written stays, and is counted as changed.
        paths.iter().for_each(|path| drop(write_own(path)));
    }
    let mut left = paths.to_vec();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(ENDING);
        }
        evict::without_writing(&left);
        // Of what stays although nobody has it mapped there is hope: the kernel begins to write
        // changed pages when they are to leave.
        left.retain(|path| {
            status(path).is_ok_and(|found| found.resident_pages.get().unwrap_or(0) > 0)
        });
        if left.is_empty() {
            return;
        }
        let mapped = holders(&left).by_file;
        left.retain(|path| !mapped.contains_key(*path));
        if left.is_empty() {
            return;
        }
    }
}

fn write_own(path: &Path) -> io::Result<()> {
    let file = residency::open(path)?;
    let user = geteuid();
    if user.is_root() || file.metadata()?.uid() == user.as_raw() {
        file.sync_data()?;
    }
    Ok(())
}

/// Every clean page of the machine, and no names and inodes.
fn drop_pages() -> Result<(), DropError> {
    // Pages that are being written stay.
    rustix::fs::sync();
    write_drop("1")
}

fn evicted(path: &Path, was: &CachedFile, is: &CachedFile, holders: &Holders) -> EvictedFile {
    let mapped_by = holders.by_file.get(path).cloned().unwrap_or_default();
    EvictedFile {
        path: was.path.clone(),
        pages: is.pages,
        before_pages: was.resident_pages.clone(),
        left_pages: is.resident_pages.clone(),
        dirty_pages: is.dirty_pages.clone(),
        reason: reason(path, is, &mapped_by, holders.hidden),
        mapped_by,
    }
}

/// Why pages stayed.
fn reason(
    path: &Path,
    is: &CachedFile,
    mapped_by: &[MappingProcess],
    hidden: u64,
) -> Option<String> {
    let left = is.resident_pages.get().filter(|left| *left > 0)?;
    let dirty = is.dirty_pages.get().unwrap_or_default();
    if let Some(system) = file_system(path).ok().filter(|it| IN_MEMORY.contains(&it.as_str())) {
        return Some(format!("{system} keeps its files in memory"));
    }
    let mut reasons = Vec::new();
    if dirty > 0 {
        let pages = if dirty == 1 { "page is" } else { "pages are" };
        reasons.push(format!("{dirty} {pages} not written yet"));
    }
    match mapped_by {
        [] if dirty >= left => {}
        [] if hidden > 0 => {
            reasons.push(
                "not known: processes that this user may not look into may have it mapped"
                    .to_owned(),
            );
        }
        [] => reasons.push("in use by the kernel".to_owned()),
        [one] => reasons.push(format!("mapped by {} ({})", one.name, one.pid)),
        several => reasons.push(format!("mapped by {} processes", several.len())),
    }
    Some(reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const PAGES: u64 = 64;

    fn file(written: bool) -> (tempfile::NamedTempFile, Vec<PathBuf>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![1; (PAGES * residency::page_bytes()) as usize]).unwrap();
        if written {
            file.as_file().sync_all().unwrap();
        }
        let paths = vec![file.path().canonicalize().unwrap()];
        (file, paths)
    }

    fn evict_one(paths: &[PathBuf], sync: bool) -> EvictedFile {
        evict_files(paths, EvictionLevel::File, sync).unwrap().files.remove(0)
    }

    #[test]
    fn changed_pages_leave_when_they_are_written_first() {
        let (_file, paths) = file(false);
        let kept = evict_one(&paths, false);
        assert_eq!(kept.before_pages.get(), Some(PAGES));
        let reason = kept.reason.unwrap_or_default();
        if reason.contains("in memory") {
            return testkit::skip("the folder for temporary files is in memory");
        }
        // The kernel may have written them meanwhile.
        let left = kept.left_pages.get().unwrap();
        assert_eq!(reason.contains("not written yet"), left > 0, "{left} {reason}");
        let gone = evict_one(&paths, true);
        assert_eq!((gone.left_pages.get(), gone.reason), (Some(0), None));
    }

    #[test]
    fn a_program_that_runs_stays_and_its_process_is_named() {
        let own = std::env::current_exe().unwrap().canonicalize().unwrap();
        let found = evict_one(&[own], false);
        let pid = crate::linux::processes::own_pid();
        assert!(found.left_pages.get().unwrap() > 0, "{found:?}");
        assert!(found.mapped_by.iter().any(|process| process.pid == pid), "{found:?}");
        assert!(found.reason.unwrap().contains("mapped by"));
    }

    #[test]
    fn sums_are_those_of_the_files() {
        let (_file, mut paths) = file(true);
        paths.push("/no/such/file".into());
        let found = evict_files(&paths, EvictionLevel::File, false).unwrap();
        assert_eq!((found.before.files, found.before.resident_pages), (1, PAGES));
        assert_eq!(found.skipped[0].path, "/no/such/file");
        if found.files[0].reason.is_some() {
            return testkit::skip("the folder for temporary files is in memory");
        }
        assert_eq!((found.after.resident_pages, found.files[0].pages), (0, PAGES));
    }

    #[test]
    fn the_reason_says_what_is_not_known() {
        let is = |resident, dirty| CachedFile {
            path: String::new(),
            pages: 9,
            resident_pages: Reading::Value(resident),
            dirty_pages: Reading::Value(dirty),
        };
        let path = std::env::current_exe().unwrap();
        let process = |pid| MappingProcess { pid, name: "sh".to_owned() };
        let words = |file: &CachedFile, by: &[MappingProcess], hidden| {
            reason(&path, file, by, hidden).unwrap_or_default()
        };
        assert_eq!(words(&is(0, 0), &[], 5), "");
        assert_eq!(words(&is(3, 3), &[], 5), "3 pages are not written yet");
        assert!(words(&is(3, 1), &[], 5).ends_with("may not look into may have it mapped"));
        assert_eq!(words(&is(3, 0), &[], 0), "in use by the kernel");
        assert_eq!(words(&is(3, 0), &[process(7)], 5), "mapped by sh (7)");
        assert_eq!(words(&is(3, 0), &[process(7), process(8)], 5), "mapped by 2 processes");
    }
}
