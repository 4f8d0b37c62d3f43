//! Thread-local storage for which the loader has little room: that of code which knows its distance from the thread
//! pointer (R_X86_64_TPOFF64). In a file with other thread-local storage all of it would have to be there.

use image::elf::loadable::{SymbolBinding, SymbolKind};
use image::elf::{Loadable, spec};
use loader::Graph;
use model::ModuleId;
use std::collections::BTreeSet;

/// The modules from the one of this number on that have such storage.
pub(super) fn beside_threads(graph: &Graph, from: usize) -> BTreeSet<ModuleId> {
    let opened = || graph.numbered().skip(from);
    let distances = |image: &Loadable, own: bool| {
        image.relocations().any(|relocation| {
            let symbol = relocation.symbol.and_then(|symbol| image.symbol(symbol));
            relocation.kind == spec::R_X86_64_TPOFF64
                && symbol.is_none_or(|symbol| symbol.defined) == own
        })
    };
    let others = opened().any(|(_, module)| distances(&module.image, false));
    let is_meant = |image: &Loadable| {
        let has = image.segment(spec::PT_TLS).is_some();
        has && (distances(image, true) || others && exports(image))
    };
    opened().filter(|(_, module)| is_meant(&module.image)).map(|(id, _)| id).collect()
}

fn exports(image: &Loadable) -> bool {
    image.symbols().any(|(_, symbol)| {
        let exported = symbol.binding != SymbolBinding::Local;
        symbol.defined && exported && symbol.kind == SymbolKind::Tls
    })
}
