//! The state of single pages: proc_pid_pagemap(5). Whoever may read smaps may read it too; only the
//! numbers of page frames, which are not needed, are kept from others than root.

use crate::linux::residency::page_bytes;
use crate::linux::trace::ptrace::proc_path;
use model::MappedVa;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Entries that are read at once.
const AT_ONCE: usize = 4096;
/// Pages of one part: 16 GiB of small ones.
const MOST: u64 = 1 << 22;

/// One page of a process, as the kernel describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEntry(pub u64);

impl PageEntry {
    /// In memory.
    pub fn is_present(self) -> bool {
        self.0 >> 63 & 1 == 1
    }

    /// Written to swap.
    pub fn is_swapped(self) -> bool {
        self.0 >> 62 & 1 == 1
    }

    /// A page of a file or of shared memory as it is there, no copy.
    pub fn is_of_file(self) -> bool {
        self.0 >> 61 & 1 == 1
    }

    /// Mapped once only.
    pub fn is_exclusive(self) -> bool {
        self.0 >> 56 & 1 == 1
    }
}

/// The pages of a part of a process's memory, in order.
///
/// # Errors
/// The part has more than `MOST` pages, the process has ended or may not be read, or the kernel does
/// not have this file.
pub fn pages(pid: u32, memory: &Range<MappedVa>) -> io::Result<Vec<PageEntry>> {
    let file = File::open(proc_path(pid.cast_signed(), "pagemap"))?;
    let first = memory.start.0 / page_bytes();
    let count = memory.end.0.div_ceil(page_bytes()).saturating_sub(first);
    if count > MOST {
        return Err(io::Error::other("there are too many pages"));
    }
    let mut found = Vec::new();
    let mut buffer = vec![0; AT_ONCE * 8];
    while (found.len() as u64) < count {
        let left = count - found.len() as u64;
        let wanted = usize::try_from(left).map_or(AT_ONCE, |left| left.min(AT_ONCE));
        let bytes = &mut buffer[..wanted * 8];
        file.read_exact_at(bytes, (first + found.len() as u64) * 8)?;
        let entries = bytes.as_chunks().0.iter();
        found.extend(entries.map(|entry| PageEntry(u64::from_le_bytes(*entry))));
    }
    Ok(found)
}
