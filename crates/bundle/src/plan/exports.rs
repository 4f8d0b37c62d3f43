//! Symbols of the bundle that others may look up: modules outside, plug-ins, dlsym.

use crate::choose::members;
use crate::plan::layout::{Layout, Member};
use image::elf::Loadable;
use image::elf::loadable::{Binding, Symbol, SymbolKind, Version, Visibility};
use loader::lookup::{Purpose, Wanted, find};
use loader::{Graph, Relocated};
use model::simulation::RelocationWork;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// Index of a library's first version.
const OLDEST: u16 = 2;

/// An exported symbol.
#[derive(Clone, Debug)]
pub(crate) struct Export<'a> {
    pub(crate) name: &'a [u8],
    /// Address in the bundle, offset in its thread-local storage, or a number.
    pub(crate) value: u64,
    pub(crate) size: u64,
    pub(crate) kind: SymbolKind,
    pub(crate) binding: Binding,
    pub(crate) placed: Placed,
    pub(crate) version: ExportVersion,
    /// References without a version do not mean it.
    pub(crate) hidden: bool,
    /// Module and symbol that it comes from.
    pub(crate) source: (usize, u32),
}

/// How a symbol's value is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// It moves with the bundle.
    Here,
    /// It does not (SHN_ABS).
    Absolute,
    /// The program's own stub of a function elsewhere (SHN_UNDEF with an address).
    Stub,
}

/// The version of an exported symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExportVersion {
    /// None.
    Base,
    /// One that the bundle defines.
    Defined(Vec<u8>),
    /// The oldest of a library (index 2), once more: the loader binds references without a version
    /// to it even where it is hidden, and dlsym does not.
    Oldest,
    /// One of a library outside, for data that the program has a copy of.
    Needed(String, Vec<u8>),
}

/// All exports, in the order in which a loader would have found their definitions.
pub(crate) fn collect<'a>(
    graph: &'a Graph,
    relocated: &[Relocated],
    layout: &Layout<'a>,
) -> Vec<Export<'a>> {
    let symbols = layout.members.iter().map(|member| member.image.symbol_count() as usize);
    // Not much more than half of them are defined.
    let room = symbols.sum::<usize>() / 2;
    let mut exports = Exports {
        graph,
        layout,
        unique: unique(graph, relocated),
        seen: FxHashSet::with_capacity_and_hasher(room, FxBuildHasher),
        first: FxHashMap::with_capacity_and_hasher(room, FxBuildHasher),
        defaults: FxHashSet::with_capacity_and_hasher(room, FxBuildHasher),
        all: Vec::new(),
        work: RelocationWork::default(),
    };
    for member in &layout.members {
        for symbol in 1..member.image.symbol_count() {
            exports.consider(member, symbol);
        }
    }
    exports.all
}

/// The one definition of each unique symbol that is bound to.
fn unique<'a>(graph: &'a Graph, relocated: &[Relocated]) -> FxHashMap<&'a [u8], (usize, u32)> {
    let bindings = relocated.iter().flat_map(|module| &module.bindings);
    let symbols = bindings.filter_map(|binding| {
        let (module, symbol) = binding.to?;
        let found = graph.modules.get(module)?.image.symbol(symbol)?;
        (found.binding == Binding::Unique).then_some((found.name, (module, symbol)))
    });
    symbols.collect()
}

struct Exports<'m, 'a> {
    graph: &'a Graph,
    layout: &'m Layout<'a>,
    unique: FxHashMap<&'a [u8], (usize, u32)>,
    /// Names with their versions.
    seen: FxHashSet<(&'a [u8], ExportVersion)>,
    /// The module in which a name is found first.
    first: FxHashMap<&'a [u8], usize>,
    /// Names that have a definition for references without a version.
    defaults: FxHashSet<&'a [u8]>,
    all: Vec<Export<'a>>,
    work: RelocationWork,
}

impl<'a> Exports<'_, 'a> {
    fn consider(&mut self, member: &Member<'a>, index: u32) {
        let image: &'a Loadable = member.image;
        let Some(symbol) = image.symbol(index) else { return };
        let Some(placed) = placed(&symbol, member.module) else { return };
        let (number, mut hidden) = image.symbol_version(index).unwrap_or((1, false));
        if number == 0 {
            return;
        }
        let asked = image.version(number);
        let version = self.version(asked, &symbol);
        let source = (member.module, index);
        let settled = self.unique.get(symbol.name);
        let other = symbol.binding == Binding::Unique && settled.is_some_and(|&one| one != source);
        if other || self.earlier_outside(member.module, &symbol, asked) {
            return;
        }
        let first = *self.first.entry(symbol.name).or_insert(member.module) == member.module;
        if first && hidden && number == OLDEST {
            self.add(member, &symbol, placed, ExportVersion::Oldest, hidden, source);
        }
        if self.defaults.contains(symbol.name) {
            if version == ExportVersion::Base {
                // References without a version would take it for the earlier one.
                return;
            }
            hidden = true;
        } else if !hidden {
            self.defaults.insert(symbol.name);
        }
        self.add(member, &symbol, placed, version, hidden, source);
    }

    fn add(
        &mut self,
        member: &Member<'a>,
        symbol: &Symbol<'a>,
        placed: Placed,
        version: ExportVersion,
        hidden: bool,
        source: (usize, u32),
    ) {
        if !self.seen.insert((symbol.name, version.clone())) {
            return;
        }
        let value = match (placed, symbol.kind) {
            (Placed::Absolute, _) => symbol.value,
            (_, SymbolKind::Tls) => member.tls.wrapping_add(symbol.value),
            _ => member.moved(symbol.value),
        };
        let Symbol { name, size, kind, binding, .. } = *symbol;
        let export = Export { name, value, size, kind, binding, placed, version, hidden, source };
        self.all.push(export);
    }

    fn version(&self, version: Option<&Version>, symbol: &Symbol<'_>) -> ExportVersion {
        let Some(version) = version.filter(|version| version.hash != 0) else {
            return ExportVersion::Base;
        };
        if version.library.is_none() {
            return ExportVersion::Defined(version.name.clone());
        }
        // The program's copy of a library's data, or its stub, asks for the library's version.
        let wanted = Wanted::new(symbol.name, Some(version), Purpose::Copy);
        let modules = self.graph.modules.iter().enumerate().skip(1);
        let mut definers = modules.filter(|(_, module)| {
            find(&module.image, &wanted, &mut RelocationWork::default()).is_some()
        });
        match definers.next() {
            Some((index, module)) if self.layout.member(index).is_none() => {
                ExportVersion::Needed(members::name_of(module), version.name.clone())
            }
            _ => ExportVersion::Base,
        }
    }

    /// A module outside comes first where this symbol is looked for.
    fn earlier_outside(
        &mut self,
        module: usize,
        symbol: &Symbol<'_>,
        asked: Option<&Version>,
    ) -> bool {
        let wanted = Wanted::new(symbol.name, asked, Purpose::Value);
        let before = self.graph.modules.iter().enumerate().take(module).skip(1);
        let mut outside = before.filter(|(index, _)| self.layout.member(*index).is_none());
        let work = &mut self.work;
        outside.any(|(_, other)| find(&other.image, &wanted, work).is_some())
    }
}

fn placed(symbol: &Symbol<'_>, module: usize) -> Option<Placed> {
    let seen = matches!(symbol.binding, Binding::Global | Binding::Weak | Binding::Unique)
        && symbol.visibility != Visibility::Hidden
        && symbol.kind != SymbolKind::Other;
    if !seen {
        return None;
    }
    let stub = module == 0 && symbol.value != 0 && symbol.kind == SymbolKind::Function;
    match (symbol.defined, symbol.absolute) {
        (true, true) => Some(Placed::Absolute),
        (true, false) => Some(Placed::Here),
        (false, _) if stub => Some(Placed::Stub),
        (false, _) => None,
    }
}
