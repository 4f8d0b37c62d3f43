//! Symbols of the bundle that others may look up: modules outside, plug-ins, dlsym.

use crate::choose::members;
use crate::plan::layout::Layout;
use crate::plan::member::Member;
use crate::plan::outside::{Outside, Places, STUB_BYTES, StubId};
use image::elf::Loadable;
use image::elf::loadable::{Symbol, SymbolBinding, SymbolKind, Version, Visibility};
use loader::lookup::{Purpose, SymbolQuery, find};
use loader::{Graph, Relocated};
use model::simulation::RelocationWork;
use model::{BundleVa, ModuleId, SymbolIndex, SymbolRef, TlsOffset, Va};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// Index of a library's first version.
const OLDEST: u16 = 2;

/// An exported symbol.
#[derive(Clone, Debug)]
pub(crate) struct Export<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: ExportValue,
    pub(crate) size: u64,
    pub(crate) kind: SymbolKind,
    pub(crate) binding: SymbolBinding,
    pub(crate) version: ExportVersion,
    /// References without a version do not mean it.
    pub(crate) hidden: bool,
    /// What it comes from.
    pub(crate) source: SymbolRef,
}

/// Where an exported symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportValue {
    /// It moves with the bundle.
    Address(BundleVa),
    /// In the thread-local storage.
    ThreadLocal(TlsOffset),
    /// A number that does not move (SHN_ABS).
    Absolute(u64),
    /// A stub of a function elsewhere, of the program or of the bundle (SHN_UNDEF with an address).
    Stub(BundleVa),
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
    (outside, places): (&Outside<'_>, &Places),
) -> Vec<Export<'a>> {
    let symbols = layout.members.iter().map(|member| member.image.symbol_count() as usize);
    // Not much more than half of them are defined.
    let room = symbols.sum::<usize>() / 2;
    let mut exports = Exports {
        graph,
        layout,
        outside,
        places,
        unique: unique(graph, relocated),
        seen: FxHashSet::with_capacity_and_hasher(room, FxBuildHasher),
        first: FxHashMap::with_capacity_and_hasher(room, FxBuildHasher),
        defaults: FxHashSet::with_capacity_and_hasher(room, FxBuildHasher),
        all: Vec::new(),
        stubs: FxHashMap::default(),
        work: RelocationWork::default(),
    };
    for member in &layout.members {
        for (index, symbol) in member.image.symbols() {
            exports.consider(member, index, symbol);
        }
    }
    exports.all_in_order()
}

/// Names that references without a version find among these.
pub(super) fn defaults<'a>(exports: &[Export<'a>]) -> FxHashSet<&'a [u8]> {
    let visible = exports.iter().filter(|export| !export.hidden);
    visible.map(|export| export.name).collect()
}

/// The one definition of each unique symbol that is bound to.
fn unique<'a>(graph: &'a Graph, relocated: &[Relocated]) -> FxHashMap<&'a [u8], SymbolRef> {
    let bindings = relocated.iter().flat_map(|module| &module.bindings);
    let symbols = bindings.filter_map(|binding| {
        let at = binding.to?;
        let found = graph[at.module].image.symbol(at.symbol)?;
        (found.binding == SymbolBinding::Unique).then_some((found.name, at))
    });
    symbols.collect()
}

struct Exports<'m, 'a> {
    graph: &'a Graph,
    layout: &'m Layout<'a>,
    outside: &'m Outside<'m>,
    places: &'m Places,
    unique: FxHashMap<&'a [u8], SymbolRef>,
    /// Names with their versions.
    seen: FxHashSet<(&'a [u8], ExportVersion)>,
    /// The module in which a name is found first.
    first: FxHashMap<&'a [u8], ModuleId>,
    /// Names that have a definition for references without a version.
    defaults: FxHashSet<&'a [u8]>,
    all: Vec<Export<'a>>,
    /// Names of the program's stubs of merged functions, and the version that the program asks for.
    stubs: FxHashMap<&'a [u8], &'a [u8]>,
    work: RelocationWork,
}

impl<'a> Exports<'_, 'a> {
    fn consider(&mut self, member: &Member<'a>, index: SymbolIndex, symbol: Symbol<'a>) {
        let image: &'a Loadable = member.image;
        let Some(value) = self.value(member, &symbol) else { return };
        self.add_alias(member, index, symbol, value);
        let (number, hidden) = image.symbol_version(index).unwrap_or((1, false));
        if number == 0 {
            return;
        }
        let asked = image.version(number);
        let version = self.version(asked, &symbol);
        let source = SymbolRef { module: member.id, symbol: index };
        let settled = self.unique.get(symbol.name);
        let other =
            symbol.binding == SymbolBinding::Unique && settled.is_some_and(|&one| one != source);
        if other || self.earlier_outside(member.id, &symbol, asked) {
            return;
        }
        let Symbol { name, size, kind, binding, .. } = self.selected(member, symbol);
        let export = Export { name, value, size, kind, binding, version, hidden, source };
        if matches!(value, ExportValue::Stub(_)) {
            // Only references to its address mean it: calls look for a definition, also those without a
            // version, and pass it over.
            if let (ExportVersion::Base, Some(asked)) = (&export.version, asked) {
                self.stubs.insert(name, &asked.name);
            }
            return self.all.push(export);
        }
        let first = *self.first.entry(name).or_insert(member.id) == member.id;
        if first && hidden && number == OLDEST {
            self.add(Export { version: ExportVersion::Oldest, ..export.clone() });
        }
        if self.defaults.contains(name) {
            if export.version == ExportVersion::Base {
                // References without a version would take it for the earlier one.
                return;
            }
            return self.add(Export { hidden: true, ..export });
        }
        if !hidden {
            self.defaults.insert(name);
        }
        self.add(export);
    }

    /// A stub has no version, and so references to every version would take it, though the program's is that of one
    /// version. Definitions of the others come before it.
    fn all_in_order(mut self) -> Vec<Export<'a>> {
        let stubs = &self.stubs;
        if !stubs.is_empty() {
            self.all.sort_by_key(|export| match &export.version {
                ExportVersion::Defined(own) => {
                    stubs.get(export.name).is_none_or(|asked| *asked == own.as_slice())
                }
                _ => true,
            });
        }
        self.all
    }

    /// For other files of plug-ins.
    fn add_alias(
        &mut self,
        member: &Member<'a>,
        index: SymbolIndex,
        symbol: Symbol<'a>,
        value: ExportValue,
    ) {
        let source = SymbolRef { module: member.id, symbol: index };
        let alias = self.layout.aliases.and_then(|aliases| aliases.get(&source));
        let Some(name) = alias.filter(|_| symbol.defined) else { return };
        let Symbol { size, kind, .. } = symbol;
        let (binding, version) = (SymbolBinding::Global, ExportVersion::Base);
        self.add(Export { name, value, size, kind, binding, version, hidden: false, source });
    }

    /// A function that a resolver selects, whose stub is its address for all.
    fn selected(&self, member: &Member<'_>, symbol: Symbol<'a>) -> Symbol<'a> {
        match self.stub_of(member, &symbol) {
            Some(_) => Symbol { kind: SymbolKind::Function, size: STUB_BYTES, ..symbol },
            None => symbol,
        }
    }

    fn stub_of(&self, member: &Member<'_>, symbol: &Symbol<'_>) -> Option<StubId> {
        let selects = symbol.defined && symbol.kind == SymbolKind::IndirectFunction;
        selects.then(|| self.outside.selected(member.moved(symbol.value)))?
    }

    fn add(&mut self, export: Export<'a>) {
        if self.seen.insert((export.name, export.version.clone())) {
            self.all.push(export);
        }
    }

    /// None of a symbol that others cannot look up.
    fn value(&self, member: &Member<'_>, symbol: &Symbol<'_>) -> Option<ExportValue> {
        let seen = matches!(
            symbol.binding,
            SymbolBinding::Global | SymbolBinding::Weak | SymbolBinding::Unique
        ) && symbol.visibility != Visibility::Hidden
            && symbol.kind != SymbolKind::Other;
        if !seen {
            return None;
        }
        let is_program = member.id == ModuleId::PROGRAM;
        let stub = is_program && symbol.value != Va::ZERO && symbol.kind == SymbolKind::Function;
        match (symbol.defined, symbol.kind) {
            (true, _) if symbol.absolute => Some(ExportValue::Absolute(symbol.value.0)),
            (true, SymbolKind::Tls) => {
                Some(ExportValue::ThreadLocal(member.tls.wrapping_add(symbol.value.0)))
            }
            (true, _) => Some(ExportValue::Address(match self.stub_of(member, symbol) {
                Some(stub) => self.places.stub(stub),
                None => member.moved(symbol.value),
            })),
            (false, _) => stub.then(|| ExportValue::Stub(member.moved(symbol.value))),
        }
    }

    fn version(&self, version: Option<&Version>, symbol: &Symbol<'_>) -> ExportVersion {
        let Some(version) = version.filter(|version| version.hash != 0) else {
            return ExportVersion::Base;
        };
        if version.library.is_none() {
            return ExportVersion::Defined(version.name.clone());
        }
        // The program's copy of a library's data, or its stub, asks for the library's version.
        let query = SymbolQuery::new(symbol.name, Some(version), Purpose::Copy);
        let modules = self.graph.numbered().skip(1);
        let mut definers = modules.filter(|(_, module)| {
            find(&module.image, &query, &mut RelocationWork::default()).is_some()
        });
        match definers.next() {
            Some((id, module)) if !self.layout.is_merged(id) => {
                ExportVersion::Needed(members::name_of(module), version.name.clone())
            }
            // A stub of a version would hide the function's own definition from those who ask for none.
            Some(_) if symbol.defined => ExportVersion::Defined(version.name.clone()),
            _ => ExportVersion::Base,
        }
    }

    /// A module outside comes first where this symbol is looked for.
    fn earlier_outside(
        &mut self,
        module: ModuleId,
        symbol: &Symbol<'_>,
        asked: Option<&Version>,
    ) -> bool {
        let query = SymbolQuery::new(symbol.name, asked, Purpose::Value);
        // The handle of a plug-in means its own.
        let before = self.graph.numbered().take(module.index()).skip(1);
        let before = before.filter(|_| self.layout.has_program());
        let mut outside = before.filter(|(id, _)| !self.layout.is_merged(*id));
        let work = &mut self.work;
        outside.any(|(_, other)| find(&other.image, &query, work).is_some())
    }
}
