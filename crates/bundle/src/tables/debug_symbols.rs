//! The symbols that debuggers and profilers show: those of all modules, at their new addresses.

use crate::plan::Plan;
use crate::plan::outside::{STUB_BYTES, StubId};
use crate::tables::sections;
use crate::tables::strings::Strings;
use crate::tables::symbols::kind_of;
use image::elf::loadable::{Section, Symbol, SymbolKind};
use image::elf::records::{SymbolEntry, symbol_info};
use image::elf::spec;

/// The symbol at the bundle's first byte.
pub(crate) const BEGIN: &str = "headstart_begin";

/// What disassemblers and debuggers append to the name of a function for that of its stub.
const STUB_SUFFIX: &[u8] = b"@plt";

/// SHT_SYMTAB and its strings; local symbols only, as nothing is linked with it.
pub(crate) fn table(plan: &Plan<'_>, sections: &[Section]) -> (Vec<u8>, Vec<u8>) {
    let layout = &plan.layout;
    let mut strings = Strings::new();
    let mut table = vec![0; SymbolEntry::SIZE];
    let begin = SymbolEntry {
        name: strings.add(BEGIN.as_bytes()),
        info: symbol_info(spec::STB_LOCAL, spec::STT_OBJECT),
        section: 1,
        value: layout.low.0,
        ..SymbolEntry::default()
    };
    table.extend_from_slice(&begin.bytes());
    for member in &layout.members {
        let mut add = |symbol: &Symbol<'_>| {
            let code = matches!(symbol.kind, SymbolKind::Function | SymbolKind::IndirectFunction);
            let data = symbol.kind == SymbolKind::Object;
            if !symbol.defined || symbol.absolute || symbol.name.is_empty() || !(code || data) {
                return;
            }
            let address = member.moved(symbol.value);
            let entry = SymbolEntry {
                name: strings.add(symbol.name),
                info: symbol_info(spec::STB_LOCAL, kind_of(symbol.kind)),
                visibility: spec::STV_DEFAULT,
                section: sections::holding(sections, address),
                value: address.0,
                size: symbol.size,
            };
            table.extend_from_slice(&entry.bytes());
        };
        let image = member.image;
        let mut full = image.static_symbols().peekable();
        if full.peek().is_some() {
            full.for_each(|symbol| add(&symbol));
        } else {
            image.symbols().for_each(|(_, symbol)| add(&symbol));
        }
    }
    let places = plan.own.places();
    for (stub, number) in plan.outside.stubs.iter().zip(0..) {
        let address = places.stub(StubId(number));
        let entry = SymbolEntry {
            name: strings.add(&[stub.name, STUB_SUFFIX].concat()),
            info: symbol_info(spec::STB_LOCAL, spec::STT_FUNC),
            visibility: spec::STV_DEFAULT,
            section: sections::holding(sections, address),
            value: address.0,
            size: STUB_BYTES,
        };
        table.extend_from_slice(&entry.bytes());
    }
    (table, strings.bytes)
}
