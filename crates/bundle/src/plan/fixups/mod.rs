//! What every relocation of every merged module becomes: a value that is known now, an address
//! that moves with the bundle, or one of the few that are left to the loader.

mod module;

use crate::error::BundleError;
use crate::plan::layout::Layout;
use crate::plan::references::{Left, Leftovers};
use image::elf::Loadable;
use loader::{Graph, Relocated};
use module::One;
use startup::Function;
use std::collections::{HashMap, HashSet};

/// Something to write at an address of the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixup {
    pub(crate) at: u64,
    pub(crate) value: Value,
}

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A number.
    Constant(u64),
    /// An address of the bundle.
    Address(u64),
    /// What the resolver at this address returns (R_X86_64_IRELATIVE).
    Resolved(u64),
    /// A descriptor of thread-local storage at this offset (R_X86_64_TLSDESC).
    Descriptor(u64),
    /// What the loader finds for a symbol.
    Left { symbol: Left, kind: u32, addend: i64 },
}

/// Data of one module that another has as its own (R_X86_64_COPY).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    /// Address in the bundle of what is copied.
    pub(crate) from: u64,
    /// Where to.
    pub(crate) to: u64,
    /// Bytes.
    pub(crate) size: u64,
}

/// All relocations.
#[derive(Default)]
pub(crate) struct Fixups<'a> {
    /// Sorted by address, each address once.
    pub(crate) all: Vec<Fixup>,
    /// Symbols that the loader still looks up.
    pub(crate) left: Leftovers<'a>,
    /// Data to copy now.
    pub(crate) copied: Vec<Copied>,
    /// Data that the loader copies: module and symbol of it, and where to.
    pub(crate) copied_later: Vec<(usize, u32, u64)>,
    /// Functions of the C library that the preamble's wrappers replace, and call.
    pub(crate) replaced: HashMap<Function, Left>,
}

/// Goes through all relocations. `template`: address of the thread-local storage's initial bytes.
pub(crate) fn collect<'a>(
    graph: &'a Graph,
    relocated: &[Relocated],
    layout: &Layout<'a>,
    template: u64,
) -> Result<Fixups<'a>, BundleError> {
    let mut fixups = Fixups::default();
    let stubs = graph.modules.first().map(|program| stubs(&program.image)).unwrap_or_default();
    for member in &layout.members {
        let bound = relocated.get(member.module).map(|module| module.bindings.as_slice());
        let bound = bound.unwrap_or(&[]).iter();
        let bound = bound.map(|binding| ((binding.symbol, binding.purpose), binding.to));
        let one = One {
            graph,
            layout,
            member,
            template,
            bound: bound.collect(),
            stubs: &stubs,
            fixups: &mut fixups,
            offsets: HashSet::new(),
            modules: Vec::new(),
        };
        one.all()?;
    }
    fixups.mirror();
    fixups.sort();
    Ok(fixups)
}

/// Functions of libraries for whose addresses the program has stubs of its own.
fn stubs(program: &Loadable) -> HashSet<&[u8]> {
    let symbols = (1..program.symbol_count()).filter_map(|index| program.symbol(index));
    symbols
        .filter(|symbol| !symbol.defined && symbol.value != 0)
        .map(|symbol| symbol.name)
        .collect()
}

impl Fixups<'_> {
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
            let moved = self.all.get(start..end).unwrap_or(&[]).iter();
            let at = |fixup: &Fixup| fixup.at - copy.from + copy.to;
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
