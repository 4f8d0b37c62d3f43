//! Pages that enter the page cache, as the kernel records them.

use super::tracefs::{Tracefs, Tracepoint};
use std::io;
use std::ops::Range;

/// The tracepoint of pages that enter the page cache, to be read or to be written.
pub(crate) struct PageCacheAdditions(Tracepoint);

/// Pages of a file that entered the page cache at once.
#[derive(Clone, Debug)]
pub(crate) struct Added {
    /// Of the file system, as the kernel numbers it ([`kernel_device`]).
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) pages: Range<u64>,
}

impl PageCacheAdditions {
    /// Its name.
    pub(crate) const NAME: &str = "filemap/mm_filemap_add_to_page_cache";

    /// # Errors
    /// Where the kernel has no such tracepoint or it may not be read.
    pub(crate) fn open(tracefs: &Tracefs) -> io::Result<PageCacheAdditions> {
        tracefs.tracepoint(Self::NAME).map(PageCacheAdditions)
    }

    /// Its number.
    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }

    /// What a sample's raw data say.
    pub(crate) fn added(&self, raw: &[u8]) -> Option<Added> {
        let field = |name| self.0.field(raw, name);
        let first = field("index")?;
        // Kernels that record single pages have no `order`. The largest folio is 2^18 pages.
        let pages = first..first.checked_add(1 << field("order").unwrap_or(0).min(18))?;
        Some(Added { device: field("s_dev")?, inode: field("i_ino")?, pages })
    }
}

/// The kernel's own `dev_t` (MKDEV), as tracepoints record it.
pub(crate) fn kernel_device(major: u32, minor: u32) -> u64 {
    u64::from(major) << 20 | u64::from(minor)
}

/// Whether a device stands for no disk: that of a file system on several disks or on none, or the
/// one under which the kernel keeps the blocks of file systems themselves.
pub(crate) fn is_unnamed(device: u64) -> bool {
    device >> 20 == 0
}
