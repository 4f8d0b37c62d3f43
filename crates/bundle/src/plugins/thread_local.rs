//! Thread-local storage for which the loader has little room: that of code which knows its distance from the thread
//! pointer (R_X86_64_TPOFF64). In a file with other thread-local storage all of it would have to be there.

use image::elf::loadable::{Symbol, SymbolBinding, SymbolKind};
use image::elf::{Loadable, spec};
use loader::Graph;
use model::ModuleId;
use std::collections::BTreeSet;

/// The modules from the one of this number on that have such storage.
pub(super) fn beside_threads(graph: &Graph, from: usize) -> BTreeSet<ModuleId> {
    let opened = || graph.numbered().skip(from);
    let of_others: BTreeSet<&[u8]> = opened()
        .flat_map(|(_, module)| distances(&module.image).flatten())
        .filter(|symbol| !symbol.defined)
        .map(|symbol| symbol.name)
        .collect();
    let is_meant = |image: &Loadable| {
        let own = distances(image).any(|symbol| symbol.is_none_or(|symbol| symbol.defined));
        let exports = image.symbols().any(|(_, symbol)| {
            let exported = symbol.defined && symbol.binding != SymbolBinding::Local;
            exported && symbol.kind == SymbolKind::Tls && of_others.contains(symbol.name)
        });
        image.segment(spec::PT_TLS).is_some() && (own || exports)
    };
    opened().filter(|(_, module)| is_meant(&module.image)).map(|(id, _)| id).collect()
}

/// Symbols of which the code knows the distance; none for a module's own storage as a whole.
fn distances(image: &Loadable) -> impl Iterator<Item = Option<Symbol<'_>>> {
    let distances = image.relocations().filter(|it| it.kind == spec::R_X86_64_TPOFF64);
    distances.map(|relocation| relocation.symbol.and_then(|symbol| image.symbol(symbol)))
}
