//! The pages that a run touches, and the fewest with which it could do.

use super::TextPlacement;
use crate::PlacedFunction;
use model::{FunctionId, Rva};
use rustc_hash::FxHashSet;

/// The size of a page of memory.
pub const PAGE_BYTES: u64 = 4096;
/// Pages of 64 KiB: what the kernel maps at once of what is in memory already, and the unit in
/// which Windows places images.
pub const WINDOW_PAGES: u32 = 16;
/// The size of a cache line, the unit in which instructions are fetched.
const LINE_BYTES: u64 = 64;

/// A page of an image in memory, counted from its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImagePage(pub u32);

impl ImagePage {
    /// The page that has this address.
    pub fn of(rva: Rva) -> ImagePage {
        ImagePage(rva.0 / PAGE_BYTES as u32)
    }
}

/// The pages that a run touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedPages {
    /// In order of first touch, each once.
    pub pages: Vec<ImagePage>,
    /// The function that touched each first, parallel to `pages`.
    pub by: Vec<FunctionId>,
}

impl TouchedPages {
    /// How many.
    pub fn count(&self) -> u64 {
        self.pages.len() as u64
    }

    /// In how many windows of 64 KiB they are.
    pub fn windows(&self) -> u64 {
        let windows: FxHashSet<u32> = self.pages.iter().map(|page| page.0 / WINDOW_PAGES).collect();
        windows.len() as u64
    }
}

/// The pages that functions touch which are called in this order. A function counts as touched
/// whole: which part of it runs is not recorded.
pub fn touched_pages(placement: &TextPlacement, calls: &[FunctionId]) -> TouchedPages {
    let mut seen = FxHashSet::default();
    let mut touched = TouchedPages::default();
    let placed = calls.iter().filter_map(|call| Some((*call, placement.extent(*call)?)));
    for (call, extent) in placed {
        let last = extent.rva.saturating_add(extent.bytes.saturating_sub(1));
        for page in ImagePage::of(extent.rva).0..=ImagePage::of(last).0 {
            if seen.insert(page) {
                touched.pages.push(ImagePage(page));
                touched.by.push(call);
            }
        }
    }
    touched
}

/// The fewest pages that whole functions need, if nothing else were between them.
pub fn function_floor(functions: &[PlacedFunction], calls: &[FunctionId]) -> u64 {
    let called: FxHashSet<FunctionId> = calls.iter().copied().collect();
    let called = called.iter().filter_map(|call| functions.get(call.index()));
    called.map(|function| u64::from(function.bytes)).sum::<u64>().div_ceil(PAGE_BYTES)
}

/// The fewest pages that so many executed lines of 64 bytes need: what splitting functions into
/// the parts that run and those that do not could reach.
pub fn line_floor(executed_lines: u64) -> u64 {
    executed_lines.saturating_mul(LINE_BYTES).div_ceil(PAGE_BYTES)
}
