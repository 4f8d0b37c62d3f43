//! ld64's `-order_file`: a symbol a line, as the assembler has it, with an underscore in front of
//! the compiler's name (methods of Objective-C have none). A `#` begins a comment, and a colon may
//! end the name of a machine or of an object file (ld(1) of macOS, *-order_file*).

use super::listing::{Listing, is_text};
use super::{OrderFile, OrderedFunction};

/// What precedes a symbol that is meant for one machine only.
const MACHINES: [&str; 6] = ["i386:", "x86_64:", "arm:", "arm64:", "ppc:", "ppc64:"];
/// What ends the name of an object file, or of one in an archive.
const OBJECTS: [&str; 2] = [".o:", ".o):"];

pub(super) fn write(functions: &[OrderedFunction<'_>]) -> OrderFile {
    Listing::of_symbols(functions, symbol).lines()
}

/// What the file can list for a name.
pub(super) fn symbol(name: &str) -> Option<String> {
    let symbol = match name {
        method if method.starts_with("-[") || method.starts_with("+[") => method.to_owned(),
        name => format!("_{name}"),
    };
    let means_more = symbol.contains('#')
        || MACHINES.iter().any(|machine| symbol.starts_with(machine))
        || OBJECTS.iter().any(|object| symbol.contains(object));
    (is_text(&symbol) && !means_more).then_some(symbol)
}
