//! Data of the C library that is copied into the bundle (R_X86_64_COPY), with all of its names.

use super::{CopyId, Exported};
use crate::choose::members;
use crate::plan::exports::ExportVersion;
use crate::plan::layout::Layout;
use image::elf::loadable::{Class, Symbol, SymbolKind, Visibility};
use image::elf::spec;
use loader::{Graph, Module};
use model::{ModuleId, SymbolIndex, SymbolRef, Va};
use rustc_hash::{FxHashMap, FxHashSet};

/// Versions of what only the C library's own files may use.
const PRIVATE: &[u8] = b"GLIBC_PRIVATE";
/// The streams themselves: the C library also reaches them without a look-up.
const STREAMS: &[u8] = b"_IO_2_1_";
/// What is copied though it can be written to: pointers to the streams, which hardly any program changes, and
/// what the C library writes to both places. Of other data the C library has the values only while a program
/// runs. Who asks the C library itself for them (RTLD_DEEPBIND, its own handle) would find old ones.
const VARIABLES: [&[u8]; 4] = [b"stdin", b"stdout", b"stderr", b"__libc_single_threaded"];
/// Strictest alignment of a copy.
const MOST_ALIGNED: u64 = 64;

/// Data that is copied.
#[derive(Clone, Debug)]
pub(crate) struct OutsideCopy<'a> {
    /// One of the symbols of the C library.
    pub(crate) definition: SymbolRef,
    /// Where it is among the copies.
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// All of its names.
    pub(super) names: Vec<(&'a [u8], Exported)>,
}

/// What is known of the C library's data.
struct Data<'a> {
    library: ModuleId,
    name: String,
    /// By address, all symbols there.
    names: FxHashMap<Va, Vec<(SymbolIndex, Symbol<'a>)>>,
    /// Addresses that the library itself reaches by a look-up.
    looked_up: FxHashSet<Va>,
}

/// Copies so far.
pub(super) struct Copies<'a> {
    graph: &'a Graph,
    data: Option<Data<'a>>,
    /// Names of which the program has copies of its own.
    of_program: FxHashSet<&'a [u8]>,
    numbers: FxHashMap<Va, Option<CopyId>>,
    all: Vec<OutsideCopy<'a>>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(graph: &'a Graph, layout: &Layout<'a>) -> Copies<'a> {
        let mut modules = graph.numbered().filter(|(id, _)| !layout.is_merged(*id));
        let library = modules.find(|(_, it)| members::name_of(it).starts_with("libc.so."));
        Copies {
            graph,
            data: library.map(|(id, module)| Data::of(id, module)),
            of_program: of_program(layout),
            numbers: FxHashMap::default(),
            all: Vec::new(),
        }
    }

    /// The copy of what a symbol defines; none where it cannot be copied.
    pub(super) fn of(&mut self, at: SymbolRef) -> Option<CopyId> {
        let data = self.data.as_ref().filter(|data| data.library == at.module)?;
        let symbol = self.graph[at.module].image.symbol(at.symbol)?;
        if let Some(known) = self.numbers.get(&symbol.value) {
            return *known;
        }
        let made = self.made(data, &symbol, at);
        let number = made.map(|made| {
            self.all.push(made);
            CopyId(self.all.len() as u32 - 1)
        });
        self.numbers.insert(symbol.value, number);
        number
    }

    fn made(
        &self,
        data: &Data<'a>,
        symbol: &Symbol<'_>,
        definition: SymbolRef,
    ) -> Option<OutsideCopy<'a>> {
        let image = &self.graph[data.library].image;
        let names = data.names.get(&symbol.value)?;
        let is_constant = image
            .segments()
            .iter()
            .any(|part| part.loads() && part.holds(symbol.value) && part.flags & spec::PF_W == 0);
        let is_known = |(_, one): &(SymbolIndex, Symbol<'_>)| VARIABLES.contains(&one.name);
        let is_variable = data.looked_up.contains(&symbol.value) && names.iter().all(is_known);
        let reached = is_constant || is_variable;
        let may_be_copied = |(index, one): &(SymbolIndex, Symbol<'_>)| {
            let version =
                image.symbol_version(*index).and_then(|(number, _)| image.version(number));
            one.kind == SymbolKind::Object
                && one.visibility == Visibility::Default
                && one.size == symbol.size
                && !one.name.starts_with(STREAMS)
                && !self.of_program.contains(one.name)
                && version.is_some_and(|version| version.name != PRIVATE)
        };
        if symbol.size == 0 || !reached || !names.iter().all(may_be_copied) {
            return None;
        }
        let end = self.all.last().map_or(0, |copy| copy.offset + copy.size);
        let unit = (1_u64 << symbol.value.0.trailing_zeros().min(63)).min(MOST_ALIGNED);
        let exported = |(index, one): &(SymbolIndex, Symbol<'a>)| {
            let (number, hidden) = image.symbol_version(*index)?;
            let version = image.version(number)?.name.clone();
            let version = ExportVersion::Needed(data.name.clone(), version);
            let source = SymbolRef { module: data.library, symbol: *index };
            Some((one.name, Exported { version, hidden, source }))
        };
        Some(OutsideCopy {
            definition,
            offset: end.next_multiple_of(unit),
            size: symbol.size,
            names: names.iter().filter_map(exported).collect(),
        })
    }

    pub(super) fn done(self) -> Vec<OutsideCopy<'a>> {
        self.all
    }
}

impl<'a> Data<'a> {
    fn of(library: ModuleId, module: &'a Module) -> Data<'a> {
        let image = &module.image;
        let mut names: FxHashMap<Va, Vec<(SymbolIndex, Symbol<'a>)>> = FxHashMap::default();
        let is_data = |symbol: &Symbol<'_>| symbol.defined && !symbol.absolute;
        for (index, symbol) in image.symbols().filter(|(_, symbol)| is_data(symbol)) {
            if !matches!(symbol.kind, SymbolKind::Tls | SymbolKind::Other) {
                names.entry(symbol.value).or_default().push((index, symbol));
            }
        }
        let by_symbol =
            image.relocations().filter(|one| !matches!(one.class, Class::Copy | Class::Tls));
        let looked_up = by_symbol.filter_map(|one| image.symbol(one.symbol?)).map(|one| one.value);
        Data { library, name: members::name_of(module), names, looked_up: looked_up.collect() }
    }
}

/// Names of data that the program has copies of.
fn of_program<'a>(layout: &Layout<'a>) -> FxHashSet<&'a [u8]> {
    let image = layout.program().image;
    let copies = image.relocations().filter(|one| one.class == Class::Copy);
    copies.filter_map(|one| image.symbol(one.symbol?)).map(|one| one.name).collect()
}
