//! gold's `--section-ordering-file`: a section a line, `*`, `?` and `[` making it a pattern. They
//! come behind all other code.

use super::listing::Listing;
use super::{InputSections, OrderFile, OrderedFunction};

pub(super) fn write(
    functions: &[OrderedFunction<'_>],
    sections: Option<&InputSections>,
) -> OrderFile {
    Listing::of_sections(functions, sections, is_plain).lines()
}

/// Whether it is no pattern.
pub(super) fn is_plain(section: &str) -> bool {
    !section.contains(['*', '?', '['])
}
