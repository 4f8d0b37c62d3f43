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
use crate::plan::layout::{Layout, Member, PAGE, align_up, page_start};
use crate::plan::own_data::OwnData;
use model::{BundleVa, FileOffset, Va};

/// The first pages of the portions, and the first page behind them.
const SECOND: u64 = 4;
const THIRD: u64 = 20;
const FOURTH: u64 = 80;
const END: u64 = 320;
/// Pages of the third portion that Linux may keep together (a large folio).
const KEPT_TOGETHER: u64 = 4;

/// Offsets in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileOrder {
    own: FileOffset,
    preamble: FileOffset,
    tables: FileOffset,
    /// What is added to the modules' offsets behind the headers.
    modules: u64,
    /// Whether something can begin the fourth portion.
    has_fourth: bool,
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
        // Then it touches the table of versions that are needed.
        let tables = if (2..=4).contains(&headers) { tables.max(THIRD) } else { tables };
        let page = |number: u64| FileOffset(number * PAGE);
        FileOrder {
            own: page(start),
            preamble: page(preamble),
            tables: page(tables),
            modules: 0,
            has_fourth: headers > 4,
        }
    }

    /// Where the tables begin.
    pub(crate) fn tables(&self) -> FileOffset {
        self.tables
    }

    /// Where the hash table begins at the earliest: its touch comes before that of the versions, and would be taken
    /// for one of the portion's first page in all pages of memory that are kept together with that.
    pub(crate) fn hash(&self) -> FileOffset {
        FileOffset(if self.tables.0 == THIRD * PAGE { (THIRD + KEPT_TOGETHER) * PAGE } else { 0 })
    }

    /// Where the relocations begin, if that is to come before other tables: `sizes` in bytes, which begin at
    /// `offset`. The loader touches them just before it touches the tables behind the others.
    pub(crate) fn relocations(&self, offset: FileOffset, sizes: &[usize]) -> Option<FileOffset> {
        let end = offset.0 + sizes.iter().map(|size| *size as u64).sum::<u64>();
        let fourth = FileOffset(FOURTH * PAGE);
        (self.has_fourth && end >= END * PAGE && offset <= fourth).then_some(fourth)
    }

    /// The modules are behind the tables, which end there.
    pub(crate) fn place_modules(&mut self, layout: &Layout<'_>, tables_end: FileOffset) {
        let before = layout.program().start() - layout.low;
        self.modules = align_up(tables_end.0.saturating_sub(before), layout.alignment());
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
