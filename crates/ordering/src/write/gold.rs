//! gold's `--section-ordering-file`: a section a line, `*`, `?` and `[` making it a pattern. They
//! come behind all other code.

use super::listing::Listing;
use super::{InputSections, OrderFile, OrderedFunction};

pub(super) fn write(
    functions: &[OrderedFunction<'_>],
    sections: Option<&InputSections>,
) -> OrderFile {
    let is_plain = |section: &str| !section.contains(['*', '?', '[']);
    Listing::of_sections(functions, sections, is_plain).lines()
}
