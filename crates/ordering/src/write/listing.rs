//! What all order files have in common: names one after the other, each once.

use super::sections::sections_of;
use super::{InputSections, OrderFile, OrderedFunction, UnlistedFunction, UnlistedReason};
use model::text;
use rustc_hash::FxHashSet;

/// What a file lists, function by function.
pub(super) struct Listing {
    /// The symbols or sections of each function that has any that are not listed earlier.
    pub functions: Vec<Vec<String>>,
    /// The file without its text.
    pub file: OrderFile,
}

impl Listing {
    /// Lists symbols: `symbol` gives what stands for a name, if anything can.
    pub fn of_symbols(
        functions: &[OrderedFunction<'_>],
        symbol: impl Fn(&str) -> Option<String>,
    ) -> Listing {
        Listing::of(functions, |names| {
            let symbols: Vec<String> = names.iter().filter_map(|name| symbol(name)).collect();
            if symbols.is_empty() { Err(UnlistedReason::OddName) } else { Ok(symbols) }
        })
    }

    /// Lists input sections, where `is_plain` tells that the file's format can name them.
    pub fn of_sections(
        functions: &[OrderedFunction<'_>],
        sections: Option<&InputSections>,
        is_plain: impl Fn(&str) -> bool,
    ) -> Listing {
        Listing::of(functions, |names| {
            let mut listed = sections_of(names.iter().copied(), sections);
            if listed.is_empty() {
                return Err(UnlistedReason::NoSection);
            }
            listed.retain(|section| is_text(section) && is_plain(section));
            if listed.is_empty() { Err(UnlistedReason::OddName) } else { Ok(listed) }
        })
    }

    /// `list` gives what stands for a function of these names.
    fn of(
        functions: &[OrderedFunction<'_>],
        list: impl Fn(&[&str]) -> Result<Vec<String>, UnlistedReason>,
    ) -> Listing {
        let mut listing = Listing { functions: Vec::new(), file: OrderFile::default() };
        let mut seen = FxHashSet::default();
        for function in functions {
            let names = function.names.iter().map(String::as_str).filter(|name| !name.is_empty());
            let names: Vec<&str> = names.collect();
            let listed = if names.is_empty() { Err(UnlistedReason::NoName) } else { list(&names) };
            match listed {
                Ok(mut listed) => {
                    listed.retain(|line| seen.insert(line.clone()));
                    listing.file.functions += 1;
                    listing.file.names += listed.len();
                    listing.functions.extend((!listed.is_empty()).then_some(listed));
                }
                Err(reason) => {
                    let name = names.first().map(|&name| name.to_owned()).unwrap_or_default();
                    listing.file.left_out.push(UnlistedFunction { name, reason });
                }
            }
        }
        listing
    }

    /// The file with one line for each name.
    pub fn lines(self) -> OrderFile {
        let mut text = String::new();
        for name in self.functions.iter().flatten() {
            text.push_str(name);
            text.push('\n');
        }
        OrderFile { text, ..self.file }
    }
}

/// A name without its version (`f@V1`, `f@@V1`): linkers find a symbol without it.
pub(super) fn unversioned(name: &str) -> &str {
    match name.find('@') {
        Some(at) if at > 0 => name.get(..at).unwrap_or(name),
        _ => name,
    }
}

/// Whether a name can stand on a line: it is text, and one line of it.
pub(super) fn is_text(name: &str) -> bool {
    // Nearly all names are, and there may be a million.
    if name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return !name.is_empty();
    }
    let is_odd = |c: char| c.is_control() || text::is_byte(c);
    name.trim() == name && !name.contains(is_odd)
}
