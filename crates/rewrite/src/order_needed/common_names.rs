//! Names that several modules export: which of them answers a look-up depends on their order.

use super::precedence::Precedence;
use image::elf::loadable::{SymbolBinding, SymbolKind, Visibility, gnu_hash};
use image::elf::{self, Loadable, possible_names};
use loader::{Graph, Relocated};
use model::{ModuleId, SymbolIndex, Va};
use rayon::prelude::*;
use std::collections::HashSet;

/// A symbol that a module exports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Export {
    hash: u32,
    module: ModuleId,
    symbol: SymbolIndex,
}

/// Names that linkers give to parts of every image, and that some linkers export.
const OF_LINKERS: [&[u8]; 7] =
    [b"__bss_start", b"_edata", b"edata", b"_end", b"end", b"_init", b"_fini"];

/// Of modules that export a common name the one that is found first stays first. The program is
/// asked first in any case and not among them. `bound`: all that the loader looks up; names that
/// only linkers make count where somebody looks them up.
pub fn precedence(graph: &Graph, bound: &[Relocated]) -> Precedence {
    let used = used_of_linkers(graph, bound);
    let mut precedence = Precedence::new(graph.modules.len());
    let modules = graph.modules.par_iter().enumerate().skip(1);
    let mut exports: Vec<Export> = modules
        .flat_map_iter(|(index, module)| exports(ModuleId::at(index), &module.image, &used))
        .collect();
    exports.par_sort_unstable();
    let looks_up: Vec<bool> = graph.modules.par_iter().map(|m| elf::looks_up(&m.image)).collect();
    for group in exports.chunk_by(|one, other| one.hash == other.hash) {
        let alone = group.first().map(|export| export.module);
        if group.iter().any(|export| Some(export.module) != alone) {
            for (name, group) in by_name(graph, group) {
                // Nobody asks for the next definition of a C++ or a linker's name (RTLD_NEXT).
                let made = name.starts_with(b"_Z") || OF_LINKERS.contains(&name);
                let next = !made && group.iter().any(|(module, _)| looks_up[module.index()]);
                among(&group, next, &mut precedence);
            }
        }
    }
    let askers = graph.numbered().skip(1).filter(|(asker, _)| looks_up[asker.index()]);
    askers.for_each(|(asker, _)| behind(graph, &exports, asker, &mut precedence));
    precedence
}

/// Those of the linkers' names that are looked up.
fn used_of_linkers(graph: &Graph, bound: &[Relocated]) -> HashSet<&'static [u8]> {
    let all = bound.iter().flat_map(|module| &module.bindings);
    let names = all.filter_map(|binding| {
        let name = graph[binding.from.module].image.symbol(binding.from.symbol)?.name;
        OF_LINKERS.into_iter().find(|&of_linkers| of_linkers == name)
    });
    names.collect()
}

fn exports<'a>(
    module: ModuleId,
    image: &'a Loadable,
    used: &'a HashSet<&'static [u8]>,
) -> impl Iterator<Item = Export> + 'a {
    // Linkers make a symbol of each version that is defined, which nobody refers to.
    let versions = image.versions().filter(|version| version.library.is_none());
    let versions: HashSet<&[u8]> = versions.map(|version| version.name.as_slice()).collect();
    image.symbols().filter_map(move |(at, symbol)| {
        let seen = matches!(
            symbol.binding,
            SymbolBinding::Global | SymbolBinding::Weak | SymbolBinding::Unique
        );
        let nothing =
            symbol.value == Va::ZERO && !symbol.absolute && symbol.kind != SymbolKind::Tls;
        // A function's stub in a program has a value without being defined, and answers too.
        let hidden = symbol.visibility == Visibility::Hidden || symbol.kind == SymbolKind::Other;
        let unused = OF_LINKERS.contains(&symbol.name) && !used.contains(symbol.name)
            || symbol.absolute && versions.contains(symbol.name);
        let export = Export { hash: gnu_hash(symbol.name), module, symbol: at };
        (seen && !nothing && !hidden && !unused).then_some(export)
    })
}

/// Keeps what a module finds that asks for the next definition of a name (RTLD_NEXT): those before
/// it stay there, and the first one behind it stays behind it and before the others.
fn behind(graph: &Graph, exports: &[Export], asker: ModuleId, precedence: &mut Precedence) {
    let names: HashSet<&[u8]> = possible_names(&graph[asker].image).collect();
    for name in names {
        let hash = gnu_hash(name);
        let from = exports.partition_point(|export| export.hash < hash);
        let same = exports[from..].iter().take_while(|export| export.hash == hash);
        let is_meant = |export: &&Export| {
            let symbol = graph[export.module].image.symbol(export.symbol);
            symbol.is_some_and(|symbol| symbol.name == name)
        };
        let definers = same.filter(is_meant).map(|export| export.module);
        let (before, after): (Vec<ModuleId>, Vec<ModuleId>) =
            definers.filter(|&definer| definer != asker).partition(|&definer| definer < asker);
        before.iter().for_each(|&definer| precedence.keep(definer, asker));
        if let Some((&next, others)) = after.split_first() {
            precedence.keep(asker, next);
            others.iter().for_each(|&other| precedence.keep(next, other));
        }
    }
}

/// What look-ups a definition answers: those for its version, and where it is not hidden those
/// without. `None`: it has no named version, and answers all.
type Answers<'a> = Option<(&'a [u8], bool)>;

/// Definitions of one name, with their modules, in the order of these.
type Definitions<'a> = Vec<(ModuleId, Answers<'a>)>;

/// Definitions of each of the names of one hash.
fn by_name<'a>(graph: &'a Graph, group: &[Export]) -> Vec<(&'a [u8], Definitions<'a>)> {
    let mut names: Vec<(&[u8], Definitions<'_>)> = Vec::new();
    for export in group {
        let module = export.module;
        let image = &graph[module].image;
        let Some(symbol) = image.symbol(export.symbol) else { continue };
        let version = image.symbol_version(export.symbol);
        let answers = version
            .and_then(|(index, hidden)| Some((image.version(index)?.name.as_slice(), hidden)));
        match names.iter_mut().find(|(name, _)| *name == symbol.name) {
            Some((_, modules)) => modules.push((module, answers)),
            None => names.push((symbol.name, vec![(module, answers)])),
        }
    }
    names
}

/// Whether some look-up could be answered by either: not so for two named versions of which one
/// answers only those who ask for it.
fn share(one: Answers<'_>, other: Answers<'_>) -> bool {
    match (one, other) {
        (Some((one, hidden)), Some((other, also))) => one == other || !(hidden || also),
        _ => true,
    }
}

/// Keeps what is found first. Of definitions that answer the same look-ups only the first one is
/// ever found, so that the others need not be in order among themselves; unless somebody could ask
/// for the `next` one.
fn among(group: &[(ModuleId, Answers<'_>)], next: bool, precedence: &mut Precedence) {
    // The definitions that are found, or with `next` the last one of each kind so far.
    let mut kinds: Vec<(ModuleId, Answers<'_>)> = Vec::new();
    for &(module, answers) in group {
        for &(first, _) in kinds.iter().filter(|kind| share(kind.1, answers)) {
            if first != module {
                precedence.keep(first, module);
            }
        }
        match kinds.iter_mut().find(|kind| kind.1 == answers) {
            Some(kind) if next => kind.0 = module,
            Some(_) => {}
            None => kinds.push((module, answers)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(group: &[(u32, Answers<'_>)], next: bool) -> Vec<(u32, u32)> {
        let mut precedence = Precedence::new(10);
        let group: Vec<_> = group.iter().map(|&(module, it)| (ModuleId(module), it)).collect();
        among(&group, next, &mut precedence);
        let before = |second| precedence.before(second).map(move |first| (first.0, second.0));
        precedence.modules().flat_map(before).collect()
    }

    #[test]
    fn what_is_found_first_stays_first() {
        let same = [(1, None), (3, None), (4, None)];
        assert_eq!(pairs(&same, false), [(1, 3), (1, 4)]);
        assert_eq!(pairs(&same, true), [(1, 3), (3, 4)]);
    }

    #[test]
    fn versions_that_no_look_up_confuses_are_free() {
        let (old, new): (Answers<'_>, Answers<'_>) = (Some((b"V_1", true)), Some((b"V_2", false)));
        assert_eq!(pairs(&[(1, old), (2, new)], false), []);
        assert_eq!(pairs(&[(1, old), (2, new), (3, old)], false), [(1, 3)]);
        // Without a version every look-up is answered, and one without by each default version.
        assert_eq!(pairs(&[(1, old), (2, None)], false), [(1, 2)]);
        assert_eq!(pairs(&[(1, new), (2, Some((b"V_3", false)))], false), [(1, 2)]);
        assert_eq!(pairs(&[(2, new), (2, old)], false), []);
    }
}
