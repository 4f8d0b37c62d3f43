//! Bytes that a launch brings into the page cache by reading, for each file.
//!
//! A page enters the page cache to be filled from storage or to be written by the program. The
//! second kind is dirtied by the launch itself and left out. So is a page that was read and
//! then changed; `read_bytes` of the whole launch has those.

use crate::linux::perf::{Added, Attr, EventKind, PageCacheAdditions, Scope, Tracefs, Tracepoint};
use crate::linux::residency::page_bytes;
use std::collections::{HashMap, HashSet};
use std::io;

/// The second name is that of kernels before 5.18.
const DIRTIED: [&str; 2] = ["writeback/writeback_dirty_folio", "writeback/writeback_dirty_page"];

/// The two tracepoints.
pub(super) struct Tracepoints {
    added: PageCacheAdditions,
    dirtied: Tracepoint,
}

impl Tracepoints {
    /// # Errors
    /// Where tracepoints may not be read or not be opened: by default for all but root.
    pub(super) fn open(scope: Scope) -> io::Result<Tracepoints> {
        let tracefs = Tracefs::open()?;
        let added = PageCacheAdditions::open(&tracefs)?;
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
        [self.added.id(), self.dirtied.id].map(|id| Attr::new(EventKind::Tracepoint(id), scope))
    }
}

/// What the two tracepoints recorded.
#[derive(Default)]
pub(super) struct Reads {
    added: Vec<Added>,
    dirtied: HashSet<(u64, u64)>,
}

impl Reads {
    pub(super) fn add(&mut self, points: &Tracepoints, raw: &[u8]) {
        self.added.extend(points.added.added(raw));
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
            !self.dirtied.is_empty()
                && added.pages.clone().any(|page| self.dirtied.contains(&(added.inode, page)))
        };
        let mut bytes = HashMap::new();
        for added in self.added.iter().filter(|added| !written(added)) {
            let pages = added.pages.end - added.pages.start;
            *bytes.entry((added.device, added.inode)).or_default() += pages * page_bytes();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_the_launch_wrote_are_no_reads() {
        let added = |inode, pages| Added { device: 1, inode, pages };
        let reads = Reads {
            added: vec![added(5, 0..4), added(5, 4..5), added(6, 0..1)],
            dirtied: HashSet::from([(6, 0), (5, 2)]),
        };
        assert_eq!(reads.by_file(), HashMap::from([((1, 5), page_bytes())]));
    }
}
