//! Which definition every reference binds to: `_dl_relocate_object` and `_dl_lookup_symbol_x` of
//! glibc, without writing anything.

use crate::graph::Graph;
use crate::lookup::{Purpose, Wanted, find};
use crate::unique;
use image::elf::Loadable;
use image::elf::loadable::{Class, Relocation, Symbol, Version, Visibility};
use model::simulation::RelocationWork;
use rayon::prelude::*;

/// A reference and what it binds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Module that refers.
    pub from: usize,
    /// Index of the symbol in its table.
    pub symbol: u32,
    /// What for.
    pub purpose: Purpose,
    /// Module that defines it and the symbol there; `None` for a weak reference that nothing
    /// defines, or a strong one that would end the program.
    pub to: Option<(usize, u32)>,
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
    let modules: Vec<&Loadable> = graph.modules.iter().map(|module| &module.image).collect();
    let each = modules.par_iter().enumerate().map(|(from, module)| {
        let mut relocating = Relocating {
            modules: &modules,
            from,
            module,
            now: all_now || module.bind_now,
            done: Relocated::default(),
            last: None,
        };
        relocating.all();
        relocating.done
    });
    let mut relocated: Vec<Relocated> = each.collect();
    unique::settle(&modules, &mut relocated);
    relocated
}

struct Relocating<'a> {
    modules: &'a [&'a Loadable],
    from: usize,
    module: &'a Loadable,
    now: bool,
    done: Relocated,
    /// The loader's cache of one: symbol and purpose of the look-up before, and what it found.
    last: Option<(u32, Purpose)>,
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
        let Some(symbol) = self.module.symbol(relocation.symbol) else { return };
        let local = symbol.binding == image::elf::loadable::Binding::Local;
        if local || symbol.visibility == Visibility::Hidden {
            return;
        }
        let purpose = Purpose::of(relocation.class);
        if self.last == Some((relocation.symbol, purpose)) {
            return;
        }
        self.last = Some((relocation.symbol, purpose));
        self.done.work.lookups += 1;
        let version = self.version(relocation.symbol);
        let wanted = Wanted::new(symbol.name, version, purpose);
        let mut work = self.done.work;
        let to = self.definition(&symbol, relocation.symbol, &wanted, &mut work);
        self.done.work = work;
        self.done.work.missing += u64::from(to.is_none());
        let binding = Binding { from: self.from, symbol: relocation.symbol, purpose, to };
        self.done.bindings.push(binding);
    }

    fn version(&self, symbol: u32) -> Option<&Version> {
        let (index, _) = self.module.symbol_version(symbol)?;
        self.module.version(index).filter(|version| version.hash != 0)
    }

    fn definition(
        &self,
        symbol: &Symbol<'_>,
        index: u32,
        wanted: &Wanted<'_>,
        work: &mut RelocationWork,
    ) -> Option<(usize, u32)> {
        let found = self.in_scope(wanted, work);
        // A protected definition is its own image's, whatever is found elsewhere; for an address
        // only where a function's stub in the program does not stand for it.
        if let Some((module, _)) = found
            && symbol.visibility == Visibility::Protected
            && module != self.from
        {
            let called = Wanted { purpose: Purpose::Call, ..*wanted };
            let elsewhere = wanted.purpose == Purpose::Call
                || self.in_scope(&called, work).is_some_and(|(other, _)| other != self.from);
            return if elsewhere { Some((self.from, index)) } else { found };
        }
        found
    }

    fn in_scope(&self, wanted: &Wanted<'_>, work: &mut RelocationWork) -> Option<(usize, u32)> {
        if self.module.symbolic
            && let Some(own) = find(self.module, wanted, work)
        {
            return Some((self.from, own));
        }
        let program = usize::from(wanted.purpose == Purpose::Copy);
        let mut scope = self.modules.iter().enumerate().skip(program);
        scope.find_map(|(at, module)| Some((at, find(module, wanted, work)?)))
    }
}
