//! ld.lld's `--symbol-ordering-file`: a symbol a line, local ones too. Of a name that several
//! object files have all are moved. A `#` begins a line that is ignored.

use super::listing::{Listing, is_text, unversioned};
use super::{OrderFile, OrderedFunction};

pub(super) fn write(functions: &[OrderedFunction<'_>]) -> OrderFile {
    Listing::of_symbols(functions, |name| symbol(name).map(str::to_owned)).lines()
}

/// What the file can list for a name.
pub(super) fn symbol(name: &str) -> Option<&str> {
    let name = unversioned(name);
    (is_text(name) && !name.starts_with('#')).then_some(name)
}
