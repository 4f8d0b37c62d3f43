//! Which definition every reference binds to: `_dl_relocate_object` and `_dl_lookup_symbol_x` of
//! glibc, without writing anything.

use crate::graph::Graph;
use crate::lookup::{Purpose, SymbolQuery, find};
use crate::unique;
use image::elf::Loadable;
use image::elf::loadable::{Class, Relocation, Symbol, SymbolBinding, Version, Visibility};
use model::simulation::RelocationWork;
use model::{ModuleId, SymbolIndex, SymbolRef};
use rayon::prelude::*;

/// A reference and what it binds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The module that refers, and the symbol by which it does.
    pub from: SymbolRef,
    /// What for.
    pub purpose: Purpose,
    /// The definition; `None` for a weak reference that nothing
    /// defines, or a strong one that would end the program.
    pub to: Option<SymbolRef>,
}

/// What relocating one module takes, and what its references bind to.
#[derive(Clone, Debug, Default)]
pub struct Relocated {
    /// Counted.
    pub work: RelocationWork,
    /// Every reference that is looked up, in the order of the look-ups.
    pub bindings: Vec<Binding>,
}

/// Goes through all relocations of all modules, each for itself and in parallel: but for unique
/// symbols, what a module binds to does not depend on the others' relocations. References that wait
/// until their first call are looked up only where `all_now` says so, or the module itself does.
pub fn bindings(graph: &Graph, all_now: bool) -> Vec<Relocated> {
    let all: Vec<ModuleId> = graph.numbered().map(|(id, _)| id).collect();
    let mut relocated = bindings_in(graph, &all, &all, all_now);
    let modules: Vec<&Loadable> = graph.modules.iter().map(|module| &module.image).collect();
    unique::settle(&modules, &mut relocated);
    relocated
}

/// As [`bindings`], for some of the modules, which look their symbols up in `scope`; it begins with the program.
/// Of a unique symbol this is the definition that is found first, whatever a process has bound before.
pub fn bindings_in(
    graph: &Graph,
    modules: &[ModuleId],
    scope: &[ModuleId],
    all_now: bool,
) -> Vec<Relocated> {
    let scope: Vec<(ModuleId, &Loadable)> =
        scope.iter().map(|&id| (id, &graph[id].image)).collect();
    let each = modules.par_iter().map(|&from| {
        let module = &graph[from].image;
        let mut relocating = Relocating {
            scope: &scope,
            from,
            module,
            now: all_now || module.bind_now,
            done: Relocated::default(),
            last: None,
        };
        relocating.all();
        relocating.done
    });
    each.collect()
}

struct Relocating<'a> {
    scope: &'a [(ModuleId, &'a Loadable)],
    from: ModuleId,
    module: &'a Loadable,
    now: bool,
    done: Relocated,
    /// The loader's cache of one: symbol and purpose of the look-up before, and what it found.
    last: Option<(SymbolIndex, Purpose)>,
}

impl Relocating<'_> {
    fn all(&mut self) {
        self.done.work.relative = self.module.packed_relocations();
        for relocation in self.module.relocations() {
            if matches!(relocation.class, Class::None | Class::Relative | Class::Irelative) {
                self.done.work.relative += u64::from(relocation.class != Class::None);
                continue;
            }
            if relocation.lazy && relocation.class == Class::Plt && !self.now {
                self.done.work.waiting += 1;
                continue;
            }
            self.done.work.references += 1;
            self.reference(&relocation);
        }
    }

    fn reference(&mut self, relocation: &Relocation) {
        let Some(index) = relocation.symbol else { return };
        let Some(symbol) = self.module.symbol(index) else { return };
        if symbol.binding == SymbolBinding::Local || symbol.visibility == Visibility::Hidden {
            return;
        }
        let purpose = Purpose::of(relocation.class);
        if self.last == Some((index, purpose)) {
            return;
        }
        self.last = Some((index, purpose));
        self.done.work.lookups += 1;
        let query = SymbolQuery::new(symbol.name, self.version(index), purpose);
        let from = SymbolRef { module: self.from, symbol: index };
        let mut work = self.done.work;
        let to = self.definition(&symbol, from, &query, &mut work);
        self.done.work = work;
        self.done.work.missing += u64::from(to.is_none());
        self.done.bindings.push(Binding { from, purpose, to });
    }

    fn version(&self, symbol: SymbolIndex) -> Option<&Version> {
        let (index, _) = self.module.symbol_version(symbol)?;
        self.module.version(index).filter(|version| version.hash != 0)
    }

    fn definition(
        &self,
        symbol: &Symbol<'_>,
        own: SymbolRef,
        query: &SymbolQuery<'_>,
        work: &mut RelocationWork,
    ) -> Option<SymbolRef> {
        let found = self.in_scope(query, work);
        // A protected definition is its own image's, whatever is found elsewhere; for an address
        // only where a function's stub in the program does not stand for it.
        if found.is_some_and(|found| found.module != self.from)
            && symbol.visibility == Visibility::Protected
        {
            let called = SymbolQuery { purpose: Purpose::Call, ..*query };
            let elsewhere = query.purpose == Purpose::Call
                || self.in_scope(&called, work).is_some_and(|other| other.module != self.from);
            return if elsewhere { Some(own) } else { found };
        }
        found
    }

    fn in_scope(&self, query: &SymbolQuery<'_>, work: &mut RelocationWork) -> Option<SymbolRef> {
        if self.module.symbolic
            && let Some(symbol) = find(self.module, query, work)
        {
            return Some(SymbolRef { module: self.from, symbol });
        }
        let program = usize::from(query.purpose == Purpose::Copy);
        let mut scope = self.scope.iter().skip(program);
        scope.find_map(|&(module, image)| {
            let symbol = find(image, query, work)?;
            Some(SymbolRef { module, symbol })
        })
    }
}
