//! Names that several modules export: which of them answers a look-up depends on their order.

use super::precedence::Precedence;
use image::Loadable;
use image::loadable::{Binding, SymbolKind, Version, Visibility, gnu_hash};
use loader::Graph;
use rayon::prelude::*;

/// A symbol that a module exports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Export {
    hash: u32,
    module: u32,
    symbol: u32,
}

/// Modules that export a common name stay in their order. The program is asked first in any case
/// and not among them.
pub fn in_common(graph: &Graph) -> Precedence {
    let mut precedence = Precedence::new(graph.modules.len());
    let modules = graph.modules.par_iter().enumerate().skip(1);
    let mut exports: Vec<Export> =
        modules.flat_map_iter(|(index, module)| exports(index, &module.image)).collect();
    exports.par_sort_unstable();
    for group in exports.chunk_by(|one, other| one.hash == other.hash) {
        let alone = group.first().map(|export| export.module);
        if group.iter().any(|export| Some(export.module) != alone) {
            among(graph, group, &mut precedence);
        }
    }
    precedence
}

fn exports(index: usize, image: &Loadable) -> impl Iterator<Item = Export> + '_ {
    (1..image.symbol_count()).filter_map(move |at| {
        let symbol = image.symbol(at)?;
        let seen = matches!(symbol.binding, Binding::Global | Binding::Weak | Binding::Unique);
        let nothing = symbol.value == 0 && !symbol.absolute && symbol.kind != SymbolKind::Tls;
        // A function's stub in a program has a value without being defined, and answers too.
        let hidden = symbol.visibility == Visibility::Hidden || symbol.kind == SymbolKind::Other;
        let module = u32::try_from(index).ok()?;
        let export = Export { hash: gnu_hash(symbol.name), module, symbol: at };
        (seen && !nothing && !hidden).then_some(export)
    })
}

fn among(graph: &Graph, group: &[Export], precedence: &mut Precedence) {
    let image = |export: &Export| &graph.modules[export.module as usize].image;
    for (at, one) in group.iter().enumerate() {
        for other in &group[at + 1..] {
            let (first, second) = (one.module as usize, other.module as usize);
            if first == second || precedence.holds(first, second) {
                continue;
            }
            let name = |export| image(export).symbol(export.symbol).map(|symbol| symbol.name);
            if name(one) == name(other) && may_answer_for(one, image(one), other, image(other)) {
                precedence.keep(first, second);
            }
        }
    }
}

/// Whether some look-up could be answered by either definition: not so for two named versions of
/// which one answers only those who ask for it.
fn may_answer_for(one: &Export, first: &Loadable, other: &Export, second: &Loadable) -> bool {
    let (one, other) = (version(one, first), version(other, second));
    match (one, other) {
        (Some((one, hidden)), Some((other, also))) => one.name == other.name || !(hidden || also),
        _ => true,
    }
}

/// The named version of a definition and whether only those who ask for it get it.
fn version<'a>(export: &Export, image: &'a Loadable) -> Option<(&'a Version, bool)> {
    let (index, hidden) = image.symbol_version(export.symbol)?;
    image.version(index).map(|version| (version, hidden))
}
