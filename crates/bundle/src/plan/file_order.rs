//! Where in the file everything is.
//!
//! ```text
//! file and program headers │ own data │ preamble │ tables │ program │ library │ library │ …
//! ```
//!
//! What the loader reads before the bundle can ask for anything comes first. Of a file that is not in
//! memory Linux reads ahead from the beginning: 4 pages, then 16, 60 and 240 more (`mm/readahead.c` of Linux
//! 6.18, where read-ahead is large), each time that the first page of the last portion is touched. Nobody
//! waits for these pages, whereas a touch of a page that was not asked for reads as much as read-ahead may be
//! around it, which can be 8 MiB. So what is touched early and in any case begins such a portion.

use crate::plan::Plan;
use crate::plan::layout::{Layout, PAGE, align_up, page_start, same_modulo};
use crate::plan::member::Member;
use crate::plan::own_data::OwnData;
use model::{BundleVa, FileOffset, Va};

/// First pages of portions.
const SECOND: u64 = 4;
const THIRD: u64 = 20;
const FOURTH: u64 = 80;
/// Portions, and how many pages from there Linux keeps together in memory (large folios): a touch of one
/// that is not the first is no touch of the first, and yet reads as much ahead as read-ahead may be.
const KEPT_TOGETHER: [(u64, u64); 3] = [(THIRD, 4), (FOURTH, 16), (320, 64)];

/// Offsets in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileOrder {
    own: FileOffset,
    preamble: FileOffset,
    tables: FileOffset,
    /// What is added to the modules' offsets behind the headers.
    modules: u64,
}

impl FileOrder {
    /// As long as the size of the tables is not known, the modules overlap them.
    pub(crate) fn new(layout: &Layout<'_>, own: &OwnData) -> FileOrder {
        let headers = align_up(layout.headers_end() - layout.low, PAGE) / PAGE;
        // The kernel touches the pages of the headers, then the loader the dynamic table.
        let dynamic = match headers {
            0..2 => headers,
            2..=4 => SECOND,
            5.. => headers.max(THIRD),
        };
        let before = (page_start(own.dynamic.start.0) - own.reserved.start.0) / PAGE;
        let start = dynamic.saturating_sub(before).max(headers);
        let preamble = start + (own.end - own.reserved.start).div_ceil(PAGE);
        let tables = preamble + own.reserved.preamble.size.div_ceil(PAGE);
        // Then it touches the first table.
        let tables = match headers {
            0..2 => tables,
            2..=4 => tables.max(THIRD),
            5.. => tables.max(FOURTH),
        };
        let page = |number: u64| FileOffset(number * PAGE);
        FileOrder { own: page(start), preamble: page(preamble), tables: page(tables), modules: 0 }
    }

    /// Where the tables begin.
    pub(crate) fn tables(&self) -> FileOffset {
        self.tables
    }

    /// Where a table begins of which the first pages are read early: at this offset or behind it.
    pub(crate) fn beginning(&self, offset: FileOffset, pages: u64) -> FileOffset {
        let (start, end) = (offset.0 / PAGE, offset.0 / PAGE + pages);
        let meets = |(first, count): &&(u64, u64)| start < first + count && end > *first;
        let behind = KEPT_TOGETHER.iter().find(meets);
        behind.map_or(offset, |(first, count)| FileOffset((first + count) * PAGE))
    }

    /// The modules are behind the tables, which end there.
    pub(crate) fn place_modules(&mut self, layout: &Layout<'_>, tables_end: FileOffset) {
        let before = layout.program().start() - layout.low;
        let free = tables_end.0.saturating_sub(before);
        self.modules = same_modulo(free, layout.low.0, layout.alignment());
    }

    /// Where an own address of a merged module is.
    pub(crate) fn of_member(&self, member: &Member<'_>, address: Va) -> FileOffset {
        member.offset(address) + self.modules
    }

    /// Where an address of the preamble, the own data or the tables is.
    pub(crate) fn of_own(&self, plan: &Plan<'_>, address: BundleVa) -> FileOffset {
        let own = &plan.own;
        let (offset, start) = if address < own.reserved.start {
            (self.preamble, own.reserved.preamble.start)
        } else if address < own.end {
            (self.own, own.reserved.start)
        } else {
            (self.tables, own.end)
        };
        offset + (address - start)
    }

    /// Where all that is loaded ends.
    pub(crate) fn end(&self, layout: &Layout<'_>) -> FileOffset {
        layout.file_end() + self.modules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_early_is_not_kept_with_the_first_page_of_a_portion() {
        let order = FileOrder {
            own: FileOffset::ZERO,
            preamble: FileOffset::ZERO,
            tables: FileOffset::ZERO,
            modules: 0,
        };
        let begins = |page: u64, pages| order.beginning(FileOffset(page * PAGE + 8), pages).0;
        for (page, pages) in [(19, 1), (24, 1), (79, 1), (96, 3), (308, 12), (384, 12)] {
            assert_eq!(begins(page, pages), page * PAGE + 8, "{page}");
        }
        for (page, pages, behind) in
            [(20, 1, 24), (23, 1, 24), (80, 1, 96), (309, 12, 384), (383, 1, 384)]
        {
            assert_eq!(begins(page, pages), behind * PAGE, "{page}");
        }
    }
}
