//! Layouts, pages, reads and costs, on figures worked out by hand and as properties.
#![allow(clippy::unwrap_used)]

mod costs;
mod layouts;
mod reads;
mod rises;

use super::*;
use crate::function::functions;
use crate::{CalledFunctions, PlacedFunction};
use model::{FileOffset, FunctionId, Rva};

fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<FunctionId> {
    numbers.into_iter().map(FunctionId).collect()
}

fn run(calls: Vec<FunctionId>) -> CalledFunctions {
    CalledFunctions { weight: 1.0, first_calls: calls, counts: Vec::new() }
}

/// So many pages from the second one on, at the same place in a file that has `behind` more.
fn mapping(pages: u32, behind: u64) -> TextMapping {
    TextMapping {
        first: ImagePage(1),
        pages,
        offset: FileOffset(PAGE_BYTES),
        file_bytes: (1 + u64::from(pages) + behind) * PAGE_BYTES,
    }
}
