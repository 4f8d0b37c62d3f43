//! Bytes that a launch brings into the page cache by reading, for each file.
//!
//! A page enters the page cache to be filled from storage or to be written by the program. The
//! second kind is dirtied by the launch itself and left out. So is a page that was read and
//! then changed; `read_bytes` of the whole launch has those.

use crate::linux::perf::{Attr, EventKind, Scope, Tracefs, Tracepoint};
use crate::linux::residency::page_bytes;
use std::collections::{HashMap, HashSet};
use std::io;

const ADDED: &str = "filemap/mm_filemap_add_to_page_cache";
/// The second name is that of kernels before 5.18.
const DIRTIED: [&str; 2] = ["writeback/writeback_dirty_folio", "writeback/writeback_dirty_page"];

/// The two tracepoints.
pub(super) struct Tracepoints {
    added: Tracepoint,
    dirtied: Tracepoint,
}

impl Tracepoints {
    /// # Errors
    /// Where tracepoints may not be read or not be opened: by default for all but root.
    pub(super) fn open(scope: Scope) -> io::Result<Tracepoints> {
        let tracefs = Tracefs::open()?;
        let added = tracefs.tracepoint(ADDED)?;
        let [folio, page] = DIRTIED;
        let dirtied = tracefs.tracepoint(folio).or_else(|_| tracefs.tracepoint(page))?;
        let found = Tracepoints { added, dirtied };
        for attr in found.attrs(scope) {
            attr.open(-1)?;
        }
        Ok(found)
    }

    /// Events that record additions and dirtied pages, in this order.
    pub(super) fn attrs(&self, scope: Scope) -> [Attr; 2] {
        [&self.added, &self.dirtied].map(|point| Attr::new(EventKind::Tracepoint(point.id), scope))
    }
}

/// Pages added to the page cache at once.
struct Added {
    device: u64,
    inode: u64,
    first_page: u64,
    pages: u64,
}

/// What the two tracepoints recorded.
#[derive(Default)]
pub(super) struct Reads {
    added: Vec<Added>,
    dirtied: HashSet<(u64, u64)>,
}

impl Reads {
    pub(super) fn add(&mut self, points: &Tracepoints, raw: &[u8]) {
        let field = |name| points.added.field(raw, name);
        if let (Some(device), Some(inode), Some(first_page)) =
            (field("s_dev"), field("i_ino"), field("index"))
        {
            // Kernels that record single pages have no `order`. The largest folio is 2^18 pages.
            let pages = 1 << field("order").unwrap_or(0).min(18);
            self.added.push(Added { device, inode, first_page, pages });
        }
    }

    pub(super) fn dirty(&mut self, points: &Tracepoints, raw: &[u8]) {
        let field = |name| points.dirtied.field(raw, name);
        if let (Some(inode), Some(page)) = (field("ino"), field("index")) {
            self.dirtied.insert((inode, page));
        }
    }

    /// Bytes by device and inode.
    pub(super) fn by_file(&self) -> HashMap<(u64, u64), u64> {
        let written = |added: &Added| {
            let mut pages = added.first_page..added.first_page + added.pages;
            !self.dirtied.is_empty()
                && pages.any(|page| self.dirtied.contains(&(added.inode, page)))
        };
        let mut bytes = HashMap::new();
        for added in self.added.iter().filter(|added| !written(added)) {
            *bytes.entry((added.device, added.inode)).or_default() += added.pages * page_bytes();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_the_launch_wrote_are_no_reads() {
        let added = |inode, first_page, pages| Added { device: 1, inode, first_page, pages };
        let reads = Reads {
            added: vec![added(5, 0, 4), added(5, 4, 1), added(6, 0, 1)],
            dirtied: HashSet::from([(6, 0), (5, 2)]),
        };
        assert_eq!(reads.by_file(), HashMap::from([((1, 5), page_bytes())]));
    }
}
