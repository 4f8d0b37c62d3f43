//! How much of chosen files is in the page cache, and what became of it when they were evicted.

use crate::Reading;
use serde::{Deserialize, Serialize};

/// Version of the JSON of [`CacheStatus`].
pub const CACHE_STATUS_SCHEMA: u32 = 1;
/// Version of the JSON of [`CacheEviction`].
pub const CACHE_EVICTION_SCHEMA: u32 = 1;

/// How much of a file is in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedFile {
    /// Its path, without links.
    pub path: String,
    /// Its pages.
    pub pages: u64,
    /// Those in memory.
    pub resident_pages: Reading<u64>,
    /// Those in memory that are changed and not yet written to storage.
    pub dirty_pages: Reading<u64>,
}

/// How much of a file is in memory in large pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargePages {
    /// What the kernel can map by large pages, in KiB (FilePmdMapped of proc_pid_smaps(5)).
    pub huge_kib: Reading<u64>,
    /// Size of the file in KiB.
    pub file_kib: u64,
}

/// Something that was named or found and is no file in storage that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedPath {
    /// Its path.
    pub path: String,
    /// Why it was left out.
    pub reason: String,
}

/// Sums over files whose pages are known, and how many others there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheTotals {
    /// All files.
    pub files: u64,
    /// All pages of them.
    pub pages: u64,
    /// Files of which it is not known how many pages are in memory.
    pub unknown_files: u64,
    /// All pages of those.
    pub unknown_pages: u64,
    /// Resident pages of the others.
    pub resident_pages: u64,
    /// Dirty pages of those files of which that is known.
    pub dirty_pages: u64,
}

impl CacheTotals {
    /// The sums of these files.
    pub fn of(files: &[CachedFile]) -> CacheTotals {
        let mut totals = CacheTotals { files: files.len() as u64, ..CacheTotals::default() };
        for file in files {
            totals.pages += file.pages;
            totals.dirty_pages += file.dirty_pages.get().unwrap_or_default();
            match file.resident_pages {
                Reading::Value(pages) => totals.resident_pages += pages,
                Reading::Unavailable { .. } => {
                    totals.unknown_files += 1;
                    totals.unknown_pages += file.pages;
                }
            }
        }
        totals
    }
}

/// How much of chosen files is in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheStatus {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The command whose files these are; missing where files were named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How the files of the command were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_from: Option<String>,
    /// Size of a page.
    pub page_bytes: u64,
    /// The sums.
    pub totals: CacheTotals,
    /// In the order in which they were named, and of paths below folders.
    pub files: Vec<CachedFile>,
    /// What was left out.
    pub skipped: Vec<SkippedPath>,
    /// What is not known, and why.
    pub notes: Vec<String>,
}

/// How much is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvictionLevel {
    /// Pages of the files.
    File,
    /// Every clean page of the machine.
    Drop,
    /// Everything of the file systems of the files, also folders, inodes and their own blocks.
    Remount,
}

/// A running process that has a file mapped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MappingProcess {
    /// Its id.
    pub pid: i32,
    /// Its name, as the kernel has it.
    pub name: String,
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvictedFile {
    /// Its path, without links.
    pub path: String,
    /// Its pages.
    pub pages: u64,
    /// Pages that were in memory before.
    pub before_pages: Reading<u64>,
    /// Pages that stayed.
    pub left_pages: Reading<u64>,
    /// Those of them that are changed and not yet written to storage.
    pub dirty_pages: Reading<u64>,
    /// Processes that have it mapped, where pages stayed or it is not known.
    pub mapped_by: Vec<MappingProcess>,
    /// Why pages stayed, where they did and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl EvictedFile {
    /// Pages that left memory.
    pub fn evicted_pages(&self) -> Reading<u64> {
        let left = self.left_pages.clone();
        match self.before_pages {
            Reading::Value(before) => left.map(|left| before.saturating_sub(left)),
            Reading::Unavailable { .. } => self.before_pages.clone(),
        }
    }
}

/// What of a file system itself is in memory, of the whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedMetadata {
    /// Blocks of file systems: tables of inodes, folders, maps of free space (Buffers of
    /// `/proc/meminfo`).
    pub block_kib: Reading<u64>,
    /// Names that were looked up (`/proc/sys/fs/dentry-state`).
    pub names: Reading<u64>,
    /// Inodes (`/proc/sys/fs/inode-nr`).
    pub inodes: Reading<u64>,
}

/// What left memory, and what stayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheEviction {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The command whose files these are; missing where files were named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How the files of the command were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_from: Option<String>,
    /// How much was evicted.
    pub level: EvictionLevel,
    /// Size of a page.
    pub page_bytes: u64,
    /// Pages of all files that left memory; missing where that is not known of one of them.
    pub evicted_pages: Reading<u64>,
    /// Pages of all files that stayed; missing where that is not known of one of them.
    pub left_pages: Reading<u64>,
    /// The sums of before, of the files of which it is known.
    pub before: CacheTotals,
    /// The sums of after, of the files of which it is known.
    pub after: CacheTotals,
    /// In the order in which they were named, and of paths below folders.
    pub files: Vec<EvictedFile>,
    /// Processes that the user may not look into: what they have mapped is not known.
    pub hidden_processes: u64,
    /// What of file systems themselves is in memory afterwards.
    pub metadata: CachedMetadata,
    /// Mount points that were mounted anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remounted: Vec<String>,
    /// What was left out.
    pub skipped: Vec<SkippedPath>,
    /// What is not known, and why.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_known_are_in_no_sum_of_resident_pages() {
        let file = |pages, resident_pages| CachedFile {
            path: String::new(),
            pages,
            resident_pages,
            dirty_pages: Reading::Value(1),
        };
        let hidden = || Reading::unavailable("it is another user's", "");
        let totals = CacheTotals::of(&[file(10, Reading::Value(7)), file(5, hidden())]);
        assert_eq!((totals.files, totals.pages, totals.resident_pages), (2, 15, 7));
        assert_eq!((totals.unknown_files, totals.unknown_pages, totals.dirty_pages), (1, 5, 2));
        let evicted = |before_pages, left_pages| EvictedFile {
            path: String::new(),
            pages: 9,
            before_pages,
            left_pages,
            dirty_pages: Reading::Value(0),
            mapped_by: Vec::new(),
            reason: None,
        };
        let known = evicted(Reading::Value(9), Reading::Value(2)).evicted_pages();
        assert_eq!(known, Reading::Value(7));
        assert!(evicted(hidden(), Reading::Value(2)).evicted_pages().value().is_none());
        assert!(evicted(Reading::Value(9), hidden()).evicted_pages().value().is_none());
    }
}
