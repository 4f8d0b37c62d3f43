//! What every relocation of every merged module becomes: a value that is known now, an address
//! that moves with the bundle, or one of the few that are left to the loader.

mod module;

use crate::error::BundleError;
use crate::plan::layout::Layout;
use crate::plan::outside::{CopyId, Outside, Places, StubId};
use crate::plan::references::{ReferenceId, References};
use image::elf::Loadable;
use image::elf::spec;
use loader::{Graph, Relocated};
use model::{BundleVa, ModuleId, SymbolRef, TlsOffset, Va};
use module::ModuleFixups;
use startup::WrappedFunction;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Something to write at an address of the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixup {
    pub(crate) at: BundleVa,
    pub(crate) value: Value,
}

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A number.
    Constant(u64),
    /// An address of the bundle.
    Address(BundleVa),
    /// What the resolver at this address returns (R_X86_64_IRELATIVE).
    Resolved(BundleVa),
    /// The number of the module itself, for thread-local storage (R_X86_64_DTPMOD64).
    ThreadModule,
    /// The distance of this offset in thread-local storage from the thread pointer (R_X86_64_TPOFF64).
    ThreadOffset(TlsOffset),
    /// A descriptor of thread-local storage at this offset (R_X86_64_TLSDESC).
    TlsDescriptor(TlsOffset),
    /// What the loader finds for a reference, by a relocation of this type.
    LookedUp { reference: ReferenceId, kind: u32, addend: i64 },
    /// The address of a stub, as long as that is not known.
    Stub(StubId),
    /// The address of a copy of data of the C library, or one behind it, as long as that is not known.
    OutsideCopy { copy: CopyId, addend: i64 },
}

/// Data of one module that another has as its own (R_X86_64_COPY).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    /// The module that has it.
    pub(crate) definer: ModuleId,
    /// Address in the bundle of what is copied.
    pub(crate) from: BundleVa,
    /// Where to.
    pub(crate) to: BundleVa,
    /// Bytes.
    pub(crate) size: u64,
}

/// Data of a module outside that the loader copies into the bundle (R_X86_64_COPY).
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopiedByLoader {
    /// The symbol of the merged module that has room for it.
    pub(crate) symbol: SymbolRef,
    /// Where to.
    pub(crate) to: BundleVa,
}

/// All relocations.
#[derive(Default)]
pub(crate) struct Fixups<'a> {
    /// Sorted by address, each address once.
    pub(crate) all: Vec<Fixup>,
    /// References that the loader still looks up.
    pub(crate) references: References<'a>,
    /// Data to copy now.
    pub(crate) copied: Vec<Copied>,
    /// Data that the loader copies.
    pub(crate) copied_by_loader: Vec<CopiedByLoader>,
    /// Functions of the C library that the preamble's wrappers replace, and call.
    pub(crate) replaced: HashMap<WrappedFunction, ReferenceId>,
}

impl Fixups<'_> {
    /// Leaves these words as they are in the file, which nobody reads: their pages need not be copied for them.
    pub(crate) fn leave(&mut self, unread: &[BundleVa]) {
        self.all.retain(|fixup| !unread.contains(&fixup.at));
    }
}

/// Stands for the address of the thread-local storage's initial bytes as long as that is not known.
const TEMPLATE: BundleVa = BundleVa(1 << 62);

/// Goes through all relocations.
pub(crate) fn collect<'a>(
    graph: &'a Graph,
    relocated: &[Relocated],
    layout: &Layout<'a>,
) -> Result<Fixups<'a>, BundleError> {
    let mut fixups = Fixups::default();
    for member in &layout.members {
        let bound = relocated[member.id.index()].bindings.iter();
        let bound = bound.map(|binding| ((binding.from.symbol, binding.purpose), binding.to));
        let module = ModuleFixups {
            graph,
            layout,
            member,
            template: TEMPLATE,
            bound: bound.collect(),
            fixups: &mut fixups,
            tls_offsets: HashSet::new(),
            tls_modules: Vec::new(),
        };
        module.collect()?;
    }
    fixups.mirror();
    fixups.sort();
    Ok(fixups)
}

/// Functions of libraries for whose addresses the program has stubs of its own.
pub(crate) fn program_stubs(program: &Loadable) -> HashSet<&[u8]> {
    let symbols = program.symbols().map(|(_, symbol)| symbol);
    symbols
        .filter(|symbol| !symbol.defined && symbol.value != Va::ZERO)
        .map(|symbol| symbol.name)
        .collect()
}

impl Fixups<'_> {
    /// A call must not find the stub that stands for a function's address in the program. Where there is none,
    /// looking up for a call and for a value are the same, and share one.
    pub(crate) fn share_looks(&mut self, program_stubs: &HashSet<&[u8]>) {
        for Fixup { value, .. } in &mut self.all {
            if let Value::LookedUp { reference, kind, .. } = value
                && *kind == spec::R_X86_64_JUMP_SLOT
                && !program_stubs.contains(self.references.name(*reference))
            {
                *kind = spec::R_X86_64_GLOB_DAT;
            }
        }
    }

    /// Puts in the addresses that were not known. All of these are behind the modules, so that the order stays.
    pub(crate) fn place(&mut self, template: BundleVa, outside: &Outside<'_>, places: &Places) {
        for Fixup { at, value } in &mut self.all {
            if let Some(within) = at.0.checked_sub(TEMPLATE.0) {
                *at = template + within;
            }
            match *value {
                Value::Stub(stub) => *value = Value::Address(places.stub(stub)),
                Value::OutsideCopy { copy, addend } => {
                    let start = outside.copies.get(copy.0 as usize).map_or(0, |copy| copy.offset);
                    let address = places.copies + start;
                    *value = Value::Address(address.wrapping_add(addend.cast_unsigned()));
                }
                _ => {}
            }
        }
    }

    /// What a file of plug-ins has of the loader's functions is what the bundle gives it instead of them. It always
    /// has that for `dlopen`, by which its preamble finds that of the bundle.
    pub(crate) fn take_given(&mut self, given: &BTreeSet<WrappedFunction>) {
        let dlopen = WrappedFunction::Dlopen;
        if let (Some(name), false) = (dlopen.given(), self.replaced.contains_key(&dlopen)) {
            self.replaced.insert(dlopen, self.references.give(name.as_bytes()));
        }
        for (function, reference) in &self.replaced {
            if let Some(name) = function.given().filter(|_| given.contains(function)) {
                self.references.rename(*reference, name.as_bytes());
            }
        }
    }

    /// What is copied includes its relocations.
    fn mirror(&mut self) {
        if self.copied.is_empty() {
            return;
        }
        self.sort();
        let mut mirrored = Vec::new();
        for copy in &self.copied {
            let start = self.all.partition_point(|fixup| fixup.at < copy.from);
            let end =
                self.all.partition_point(|fixup| fixup.at < copy.from.saturating_add(copy.size));
            let moved = self.all[start..end].iter();
            let at = |fixup: &Fixup| copy.to + (fixup.at - copy.from);
            mirrored.extend(moved.map(|fixup| Fixup { at: at(fixup), ..*fixup }));
        }
        self.all.extend(mirrored);
    }

    /// Of two at one address the later one counts, as with a loader.
    fn sort(&mut self) {
        self.all.reverse();
        self.all.sort_by_key(|fixup| fixup.at);
        self.all.dedup_by_key(|fixup| fixup.at);
    }
}
