//! Source lines by the code that was made from them.

use crate::functions::debug_file;
use addr2line::Loader;
use std::path::Path;

/// A line of source code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file as the compiler knew it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
}

/// For each virtual address in the image at `path` the line it was made from, by the DWARF line
/// tables (DWARF 5, 6.2) of the image itself, or of its debug file below `debug_folder`. `None`
/// where there is no such table, or it does not tell.
pub fn lines(path: &Path, debug_folder: &Path, addresses: &[u64]) -> Vec<Option<Line>> {
    let debug =
        crate::elf::facts(path).ok().and_then(|facts| debug_file(debug_folder, &facts.build_id?));
    // What has the symbols has the lines.
    let sources = debug.iter().map(|debug| debug.as_path()).chain([path]);
    for loader in sources.filter_map(|source| Loader::new(source).ok()) {
        let found: Vec<Option<Line>> =
            addresses.iter().map(|&address| line(&loader, address)).collect();
        if found.iter().any(Option::is_some) {
            return found;
        }
    }
    vec![None; addresses.len()]
}

fn line(loader: &Loader, address: u64) -> Option<Line> {
    let location = loader.find_location(address).ok()??;
    Some(Line { file: location.file?.to_owned(), line: location.line? })
}
