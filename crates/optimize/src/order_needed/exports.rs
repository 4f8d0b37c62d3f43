//! Names that several modules export: which of them answers a look-up depends on their order.

use super::precedence::Precedence;
use image::Loadable;
use image::loadable::{Binding, SymbolKind, Version, Visibility, gnu_hash};
use loader::{Graph, Relocated};
use rayon::prelude::*;
use std::collections::HashSet;

/// A symbol that a module exports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Export {
    hash: u32,
    module: u32,
    symbol: u32,
}

/// Names that linkers give to parts of every image, and that some linkers export.
const OF_LINKERS: [&[u8]; 7] =
    [b"__bss_start", b"_edata", b"edata", b"_end", b"end", b"_init", b"_fini"];

/// Modules that export a common name stay in their order. The program is asked first in any case
/// and not among them. `bound`: all that the loader looks up; names that only linkers make count
/// where somebody looks them up.
pub fn in_common(graph: &Graph, bound: &[Relocated]) -> Precedence {
    let used = used_of_linkers(graph, bound);
    let mut precedence = Precedence::new(graph.modules.len());
    let modules = graph.modules.par_iter().enumerate().skip(1);
    let mut exports: Vec<Export> =
        modules.flat_map_iter(|(index, module)| exports(index, &module.image, &used)).collect();
    exports.par_sort_unstable();
    for group in exports.chunk_by(|one, other| one.hash == other.hash) {
        let alone = group.first().map(|export| export.module);
        if group.iter().any(|export| Some(export.module) != alone) {
            among(graph, group, &mut precedence);
        }
    }
    precedence
}

/// Those of the linkers' names that are looked up.
fn used_of_linkers(graph: &Graph, bound: &[Relocated]) -> HashSet<&'static [u8]> {
    let all = bound.iter().flat_map(|module| &module.bindings);
    let names = all.filter_map(|binding| {
        let name = graph.modules.get(binding.from)?.image.symbol(binding.symbol)?.name;
        OF_LINKERS.into_iter().find(|&of_linkers| of_linkers == name)
    });
    names.collect()
}

fn exports<'a>(
    index: usize,
    image: &'a Loadable,
    used: &'a HashSet<&'static [u8]>,
) -> impl Iterator<Item = Export> + 'a {
    // Linkers make a symbol of each version that is defined, which nobody refers to.
    let versions = image.versions().filter(|version| version.library.is_none());
    let versions: HashSet<&[u8]> = versions.map(|version| version.name.as_slice()).collect();
    (1..image.symbol_count()).filter_map(move |at| {
        let symbol = image.symbol(at)?;
        let seen = matches!(symbol.binding, Binding::Global | Binding::Weak | Binding::Unique);
        let nothing = symbol.value == 0 && !symbol.absolute && symbol.kind != SymbolKind::Tls;
        // A function's stub in a program has a value without being defined, and answers too.
        let hidden = symbol.visibility == Visibility::Hidden || symbol.kind == SymbolKind::Other;
        let unused = OF_LINKERS.contains(&symbol.name) && !used.contains(symbol.name)
            || symbol.absolute && versions.contains(symbol.name);
        let module = u32::try_from(index).ok()?;
        let export = Export { hash: gnu_hash(symbol.name), module, symbol: at };
        (seen && !nothing && !hidden && !unused).then_some(export)
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
