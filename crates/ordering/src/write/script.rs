//! Fragments of linker scripts for GNU ld: for its `--section-ordering-file` (from 2.43 on), and
//! one that adds an output section to the linker's own script (any version, `-T`).

use super::listing::Listing;
use super::{InputSections, OrderFile, OrderedFunction};

/// Sections that come first in the output section `.text`.
pub(super) fn ordering_file(
    functions: &[OrderedFunction<'_>],
    sections: Option<&InputSections>,
) -> OrderFile {
    written(functions, sections, ".text : {\n", "}\n")
}

/// An output section in front of `.text`.
pub(super) fn added_section(
    functions: &[OrderedFunction<'_>],
    sections: Option<&InputSections>,
) -> OrderFile {
    let (begin, end) = ("SECTIONS {\n.text.ordered : {\n", "}\n}\nINSERT BEFORE .text;\n");
    written(functions, sections, begin, end)
}

fn written(
    functions: &[OrderedFunction<'_>],
    sections: Option<&InputSections>,
    begin: &str,
    end: &str,
) -> OrderFile {
    let Listing { functions, file } = Listing::of_sections(functions, sections, is_plain);
    let mut text = begin.to_owned();
    for listed in functions {
        let words: Vec<String> = listed.iter().map(|section| word(section)).collect();
        text += &format!("  *({})\n", words.join(" "));
    }
    text += end;
    OrderFile { text, ..file }
}

/// Quotes have no way to contain a quote, and patterns are patterns within them, too.
pub(super) fn is_plain(section: &str) -> bool {
    !section.contains(['*', '?', '[', '\\', '"'])
}

fn word(section: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$');
    if section.chars().all(is_bare) { section.to_owned() } else { format!("\"{section}\"") }
}
