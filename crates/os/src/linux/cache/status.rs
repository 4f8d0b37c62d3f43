//! How much of files is in memory, for people: changed pages, too, and why something is not known.

use super::super::host::file_system;
use super::super::residency::{self, cachestat, resident_pages};
use model::{CachedFile, CachedMetadata, Reading, text};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How much of a file is in memory, and how much of that is changed and not yet written.
///
/// # Errors
/// Where the file cannot be opened for reading or is no regular file.
pub fn status(path: &Path) -> io::Result<CachedFile> {
    let (pages, resident_pages) = resident_pages(path)?;
    let dirty_pages = match &resident_pages {
        Reading::Value(resident) => dirty_pages(path, *resident)?,
        Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
    };
    Ok(CachedFile { path: text::text(path), pages, resident_pages, dirty_pages })
}

/// Of a file with so many pages in memory.
fn dirty_pages(path: &Path, resident: u64) -> io::Result<Reading<u64>> {
    Ok(match cachestat(&residency::open(path)?) {
        // The pages of a file on an overlay are those of the file below, which is not asked.
        Ok(found) if found.cached == 0 && resident > 0 => Reading::unavailable(
            "the kernel does not tell which pages of a file on an overlay are changed",
            "",
        ),
        Ok(found) => Reading::Value(found.dirty.saturating_add(found.writeback).min(found.cached)),
        Err(error) => {
            Reading::unavailable(format!("cachestat failed: {error}"), "use Linux 6.5 or newer")
        }
    })
}

/// How many of these files on an overlay have the pages of another of these files, which is in a layer
/// below: whoever adds up pages counts theirs twice.
pub fn shared_with_layers(paths: &[PathBuf]) -> u64 {
    let mut alike: HashMap<_, Vec<&Path>> = HashMap::new();
    for path in paths {
        let Ok(data) = path.metadata() else { continue };
        // An overlay shows the size, time and inode of the file below, the layer in upper bits.
        let key = (data.len(), data.mtime(), data.mtime_nsec(), data.ino() & u64::from(u32::MAX));
        alike.entry(key).or_default().push(path);
    }
    let is_on_overlay = |path: &&Path| file_system(path).is_ok_and(|system| system == "overlay");
    let several = alike.into_values().filter(|paths| paths.len() > 1);
    let shared = several.map(|paths| {
        let above = paths.iter().copied().filter(|path| is_on_overlay(path)).count();
        if above < paths.len() { above as u64 } else { 0 }
    });
    shared.sum()
}

/// What of file systems themselves is in memory, of the whole machine.
pub fn metadata() -> CachedMetadata {
    CachedMetadata {
        block_kib: number("/proc/meminfo", |text| {
            let line = text.lines().find_map(|line| line.strip_prefix("Buffers:"))?;
            line.split_whitespace().next()
        }),
        names: number("/proc/sys/fs/dentry-state", |text| text.split_whitespace().next()),
        inodes: number("/proc/sys/fs/inode-nr", |text| text.split_whitespace().next()),
    }
}

fn number(path: &str, of: impl Fn(&str) -> Option<&str>) -> Reading<u64> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return Reading::unavailable(format!("{path}: {error}"), ""),
    };
    of(&text).and_then(|word| word.parse().ok()).map_or_else(
        || Reading::unavailable(format!("{path} does not have the expected form"), ""),
        Reading::Value,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn changed_pages_are_counted_until_they_are_written() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![1; 20 * residency::page_bytes() as usize]).unwrap();
        let before = status(file.path()).unwrap();
        assert_eq!((before.pages, before.resident_pages.get()), (20, Some(20)));
        file.as_file().sync_all().unwrap();
        let after = status(file.path()).unwrap();
        let system = file_system(file.path()).unwrap_or_default();
        match after.dirty_pages {
            Reading::Value(0) => {}
            _ if system == "tmpfs" => testkit::skip("the folder for temporary files is in memory"),
            Reading::Unavailable { reason, .. } => {
                testkit::skip(&format!("residency is not told: {reason}"));
            }
            Reading::Value(dirty) => panic!("{dirty} pages are still dirty"),
        }
        assert!(status(Path::new("/no/such/file")).is_err());
    }

    #[test]
    fn what_file_systems_keep_is_read() {
        let found = metadata();
        assert!(found.names.get().unwrap() > 0 && found.inodes.get().unwrap() > 0, "{found:?}");
        assert!(found.block_kib.value().is_some(), "{found:?}");
    }
}
