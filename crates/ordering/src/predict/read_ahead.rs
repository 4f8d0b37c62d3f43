//! How a kernel reads the pages of a mapped program: what it reads around the page that is missing.
//!
//! What Linux does is in `mm/filemap.c` (`do_sync_mmap_readahead`, `do_async_mmap_readahead`,
//! `filemap_map_pages`) and `mm/readahead.c` (`page_cache_ra_order`, `page_cache_async_ra`):
//!
//! - Since 6.16 or so (`VM_EXEC`), a missing page p of an executable mapping has `[p, p + 31]` read
//!   with the usual read-ahead of 128 KiB, not beyond the mapping or the end of the file, and
//!   nothing is read asynchronously.
//! - Before, and for all other mappings, `[p − 16, p + 15]` is read, and one of these pages is
//!   marked: its first touch has the pages behind the range read, without a wait.
//! - Pages that are in memory already are left out, and divide a request into several.
//! - A fault maps all pages of its aligned 64 KiB that are in memory (fault-around). The kernel
//!   stops reading ahead after 100 more misses than hits; as each page that is mapped so counts as
//!   a hit, programs do not get there, and this is not modeled.
//!
//! Compared with Linux 6.18 (a mapped compiler of 190 MB on ext4, read-ahead of 128 KiB and of
//! 8 MiB, the pages of four launches in two layouts touched one by one): with executable mappings
//! major faults and bytes were as predicted each time, and all faults within 1 %. With others the
//! bytes were within 3 % at 128 KiB: there a new kernel marks a group of pages where an older one
//! marks a page.

use super::{ImagePage, PAGE_BYTES};
use model::FileOffset;

/// Which pages are read around one that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAheadKind {
    /// That page and those behind it, within the mapping: Linux since `VM_EXEC` has a way of its
    /// own (seen on 6.18).
    Forward,
    /// As many before it as from it on, within the file; then more, when a marked page is touched:
    /// Linux before that.
    Centered,
}

/// A kernel's way to read ahead in mapped files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelReadAhead {
    /// Which pages are read.
    pub kind: ReadAheadKind,
    /// How many: `read_ahead_kb` of the device, in pages.
    pub pages: u32,
    /// Aligned pages that a fault maps of what is in memory; 1 where a fault maps its page only.
    pub fault_around_pages: u32,
}

impl KernelReadAhead {
    /// Linux with its usual 128 KiB and 64 KiB.
    pub fn linux(kind: ReadAheadKind) -> KernelReadAhead {
        KernelReadAhead { kind, pages: 32, fault_around_pages: 16 }
    }
}

/// The mapping of an image that has its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextMapping {
    /// Its first page in memory.
    pub first: ImagePage,
    /// How many pages it has.
    pub pages: u32,
    /// Where the first page is in the file.
    pub offset: FileOffset,
    /// The size of the file.
    pub file_bytes: u64,
}

impl TextMapping {
    /// Pages of the file before the mapping.
    pub(super) fn pages_before(&self) -> i64 {
        i64::try_from(self.offset.0 / PAGE_BYTES).unwrap_or(i64::MAX)
    }

    /// Pages of the file from the first page of the mapping to the end of the file.
    pub(super) fn pages_to_end(&self) -> i64 {
        let bytes = self.file_bytes.saturating_sub(self.offset.0);
        i64::try_from(bytes.div_ceil(PAGE_BYTES)).unwrap_or(i64::MAX)
    }
}
