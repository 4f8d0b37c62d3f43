//! The symbols that debuggers and profilers show: those of all modules, at their new addresses.

use crate::plan::layout::Layout;
use crate::tables::sections::{self, Section};
use crate::tables::strings::Strings;
use crate::tables::symbols::{SYMBOL, kind_of};
use image::elf::loadable::{Symbol, SymbolKind};
use image::elf::spec;

/// The symbol at the bundle's first byte.
pub(crate) const BEGIN: &str = "headstart_begin";

/// SHT_SYMTAB and its strings; local symbols only, as nothing is linked with it.
pub(crate) fn table(layout: &Layout<'_>, sections: &[Section]) -> (Vec<u8>, Vec<u8>) {
    let mut strings = Strings::new();
    let mut table = vec![0; SYMBOL];
    table.extend_from_slice(&strings.add(BEGIN.as_bytes()).to_le_bytes());
    table.extend_from_slice(&[spec::STB_LOCAL << 4 | spec::STT_OBJECT, 0, 1, 0]);
    table.extend_from_slice(&layout.low.to_le_bytes());
    table.extend_from_slice(&[0; 8]);
    for member in &layout.members {
        let mut add = |symbol: &Symbol<'_>| {
            let code = matches!(symbol.kind, SymbolKind::Function | SymbolKind::IndirectFunction);
            let data = symbol.kind == SymbolKind::Object;
            if !symbol.defined || symbol.absolute || symbol.name.is_empty() || !(code || data) {
                return;
            }
            let address = member.moved(symbol.value);
            table.extend_from_slice(&strings.add(symbol.name).to_le_bytes());
            table.extend_from_slice(&[spec::STB_LOCAL << 4 | kind_of(symbol.kind), 0]);
            table.extend_from_slice(&sections::holding(sections, address).to_le_bytes());
            table.extend_from_slice(&address.to_le_bytes());
            table.extend_from_slice(&symbol.size.to_le_bytes());
        };
        let image = member.image;
        let mut full = image.static_symbols().peekable();
        if full.peek().is_some() {
            full.for_each(|symbol| add(&symbol));
        } else {
            let count = image.symbol_count();
            (1..count).filter_map(|index| image.symbol(index)).for_each(|symbol| add(&symbol));
        }
    }
    (table, strings.bytes)
}
