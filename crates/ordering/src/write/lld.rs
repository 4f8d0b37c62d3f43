//! ld.lld's `--symbol-ordering-file`: a symbol a line, local ones too. Of a name that several
//! object files have all are moved. A `#` begins a line that is ignored.

use super::listing::{Listing, is_text, unversioned};
use super::{OrderFile, OrderedFunction};

pub(super) fn write(functions: &[OrderedFunction<'_>]) -> OrderFile {
    let symbol = |name: &str| {
        let name = unversioned(name);
        (is_text(name) && !name.starts_with('#')).then(|| name.to_owned())
    };
    Listing::of_symbols(functions, symbol).lines()
}
