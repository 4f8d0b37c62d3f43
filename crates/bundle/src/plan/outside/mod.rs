//! What merged modules use of the C library, each once: stubs that jump through one table of functions, and copies
//! of its data.
//!
//! A slot of a module holds the address of a stub, which is known now, and only the table is left to the loader.
//! As in a program that is not position-independent, a stub is the function's address for all: the bundle exports
//! it, so that plug-ins and dlsym find the same (System V ABI for x86-64, "Function Addresses"). Data is
//! copied into the bundle as for such a program (R_X86_64_COPY). Slots of a module then need no relocation at
//! fixed addresses, and its pages are neither written to nor protected at a start.

mod copies;
mod fill;
mod route;
mod stubs;

use crate::plan::exports::{Export, ExportValue, ExportVersion};
use crate::plan::fixups::{Fixup, Value};
use crate::plan::references::ReferenceId;
use image::elf::loadable::{SymbolBinding, SymbolKind};
use model::{BundleVa, ModuleId, SymbolRef, Va};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use copies::OutsideCopy;
pub(crate) use fill::Filled;
pub(crate) use route::route;
use stubs::LATE_FROM;
pub(crate) use stubs::{FIRST_BYTES, FIRST_PUSHED, LATE_PUSHED, STUB_BYTES};

/// Bytes of an entry of the table.
pub(crate) const ENTRY_BYTES: u64 = 8;
/// Entries before the functions': the loader's own (DT_PLTGOT).
const OF_LOADER: u64 = 3;

/// A stub, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StubId(pub(crate) u32);

/// Data of the C library that is copied, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CopyId(pub(crate) u32);

/// What a stub jumps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// The function that the loader finds for a reference.
    Function(ReferenceId),
    /// The function that a resolver of a merged module selects (IFUNC).
    Selected(BundleVa),
}

/// A stub.
#[derive(Clone, Debug)]
pub(crate) struct Stub<'a> {
    pub(crate) target: Target,
    /// Name of the function, where it has one.
    pub(crate) name: &'a [u8],
    /// Names by which it is the function's address for all; none of what is only called.
    exported: Vec<(&'a [u8], Exported)>,
}

/// How a function or data of the C library is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exported {
    pub(crate) version: ExportVersion,
    pub(crate) hidden: bool,
    pub(crate) source: SymbolRef,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Outside<'a> {
    pub(crate) stubs: Vec<Stub<'a>>,
    /// By what is called: a function outside, at its own address there, or what a resolver selects.
    functions: FxHashMap<(ModuleId, Va), StubId>,
    selected: FxHashMap<BundleVa, StubId>,
    pub(crate) copies: Vec<OutsideCopy<'a>>,
}

/// Where stubs, table and copies begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// What stubs have in common, and the stubs behind it.
    pub(crate) stubs: BundleVa,
    /// The loader's entries, and those of the functions behind them.
    pub(crate) table: BundleVa,
    pub(crate) copies: BundleVa,
}

impl Places {
    /// A stub's address.
    pub(crate) fn stub(&self, stub: StubId) -> BundleVa {
        self.stubs + FIRST_BYTES + STUB_BYTES * u64::from(stub.0)
    }

    /// The first function's entry.
    pub(crate) fn entries(&self) -> BundleVa {
        self.table + ENTRY_BYTES * OF_LOADER
    }
}

impl<'a> Outside<'a> {
    /// How many stubs there are.
    pub(crate) fn count(&self) -> u64 {
        self.stubs.len() as u64
    }

    /// Bytes of all stubs, and what they have in common.
    pub(crate) fn stub_bytes(&self) -> u64 {
        if self.stubs.is_empty() { 0 } else { FIRST_BYTES + STUB_BYTES * self.count() }
    }

    /// Bytes of the table.
    pub(crate) fn table_bytes(&self) -> u64 {
        if self.stubs.is_empty() { 0 } else { ENTRY_BYTES * (OF_LOADER + self.count()) }
    }

    /// Bytes of all copies.
    pub(crate) fn copy_bytes(&self) -> u64 {
        self.copies.last().map_or(0, |copy| copy.offset + copy.size)
    }

    /// The stub of what a resolver selects.
    pub(crate) fn selected(&self, resolver: BundleVa) -> Option<StubId> {
        self.selected.get(&resolver).copied()
    }

    /// The code of all stubs.
    pub(crate) fn code(&self, places: &Places) -> Vec<u8> {
        if self.stubs.is_empty() { Vec::new() } else { stubs::code(places, self.count()) }
    }

    /// The functions' entries as they are in the file. The loader looks a function up when it is first called: until
    /// then its entry leads behind its own stub's jump.
    pub(crate) fn entries(&self, places: &Places) -> Vec<Fixup> {
        let places = *places;
        let entries = self.stubs.iter().zip(0..).map(move |(stub, number)| {
            let value = match stub.target {
                Target::Function(_) => Value::Address(places.stub(StubId(number)) + LATE_FROM),
                Target::Selected(resolver) => Value::Resolved(resolver),
            };
            Fixup { at: places.entries() + ENTRY_BYTES * u64::from(number), value }
        });
        entries.collect()
    }

    /// References of the functions' entries, from the first one on (DT_JMPREL).
    pub(crate) fn looked_up_late(&self) -> impl Iterator<Item = ReferenceId> {
        self.stubs.iter().map_while(|stub| match stub.target {
            Target::Function(reference) => Some(reference),
            Target::Selected(_) => None,
        })
    }

    /// What the bundle exports of it. `defaults`: names that references without a version find in the bundle.
    pub(crate) fn exports(
        &self,
        places: &Places,
        defaults: &FxHashSet<&'a [u8]>,
    ) -> Vec<Export<'a>> {
        let mut all = Vec::new();
        let mut add = |exported: &[(&'a [u8], Exported)], value, kind, size| {
            let exports = exported.iter().map(|(name, exported)| {
                let hidden = exported.hidden || defaults.contains(name);
                Exported { hidden, ..exported.clone() }.export(name, value, kind, size)
            });
            all.extend(exports);
        };
        for (stub, number) in self.stubs.iter().zip(0..) {
            let value = ExportValue::Stub(places.stub(StubId(number)));
            add(&stub.exported, value, SymbolKind::Function, 0);
        }
        for copy in &self.copies {
            let value = ExportValue::Address(places.copies + copy.offset);
            add(&copy.names, value, SymbolKind::Object, copy.size);
        }
        all
    }

    /// What the address of a stub or a copy stands for; [`Meaning::Own`] of all else.
    pub(crate) fn meaning(&self, places: &Places, address: BundleVa) -> Meaning {
        let of_stub = address.0.checked_sub(places.stub(StubId(0)).0);
        let of_stub = of_stub.filter(|it| it % STUB_BYTES == 0).map(|offset| offset / STUB_BYTES);
        let stub = of_stub.and_then(|number| self.stubs.get(usize::try_from(number).ok()?));
        if let Some(stub) = stub {
            return Meaning::Function(stub.target);
        }
        let of_copy = address.0.checked_sub(places.copies.0);
        let copy = self.copies.iter().find(|copy| Some(copy.offset) == of_copy);
        copy.map_or(Meaning::Own, |copy| Meaning::Copy(copy.definition))
    }
}

/// What an address of the bundle stands for.
pub(crate) enum Meaning {
    /// Itself.
    Own,
    /// A function elsewhere.
    Function(Target),
    /// Data of the C library.
    Copy(SymbolRef),
}

impl Exported {
    fn export<'a>(
        self,
        name: &'a [u8],
        value: ExportValue,
        kind: SymbolKind,
        size: u64,
    ) -> Export<'a> {
        let Exported { version, hidden, source } = self;
        let binding = SymbolBinding::Global;
        Export { name, value, size, kind, binding, version, hidden, source }
    }
}
