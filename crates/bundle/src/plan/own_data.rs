//! The bundle's own writable data: initial thread-local storage, slots of wrapped functions, the table of
//! functions outside, the dynamic table, arrays of functions, and behind what becomes read-only the copies of
//! the C library's data and the names for the loader.

use crate::plan::fixups::{Fixup, Fixups, Value};
use crate::plan::initializers::Functions;
use crate::plan::layout::{Layout, PAGE, align_up, aligned};
use crate::plan::loader_names::NODE;
use crate::plan::outside::{Outside, Places, STUB_BYTES};
use image::elf::records::DynamicEntry;
use image::elf::spec;
use model::BundleVa;
use startup::WrappedFunction;

/// Bytes of a line of the processor's cache, at which copies of data begin.
const LINE: u64 = 64;

/// What is known before functions are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reserved {
    /// The preamble, and the stubs behind it.
    pub(crate) preamble: Extent,
    /// Stubs of functions outside.
    pub(crate) stubs: Extent,
    /// Beginning of the data.
    pub(crate) start: BundleVa,
    /// Initial thread-local storage.
    pub(crate) template: BundleVa,
    /// Words that the loader fills with the functions that the preamble wraps.
    pub(crate) slots: Extent,
}

impl Reserved {
    pub(crate) fn new(layout: &Layout<'_>, preamble_size: u64, outside: &Outside<'_>) -> Reserved {
        let stubs = aligned(layout.preamble() + preamble_size, STUB_BYTES);
        let stubs = Extent { start: stubs, size: outside.stub_bytes() };
        let size = align_up(stubs.end() - layout.preamble(), PAGE);
        let preamble = Extent { start: layout.preamble(), size };
        let start = preamble.end();
        let template = aligned(start, layout.tls.alignment.max(16));
        let slots = aligned(template + layout.tls.size, 16);
        let slots = Extent { start: slots, size: 8 * WrappedFunction::ALL.len() as u64 };
        Reserved { preamble, stubs, start, template, slots }
    }
}

/// A part of the bundle's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) start: BundleVa,
    pub(crate) size: u64,
}

impl Extent {
    pub(crate) fn end(&self) -> BundleVa {
        self.start + self.size
    }
}

/// Where everything is.
#[derive(Clone, Debug)]
pub(crate) struct OwnData {
    pub(crate) reserved: Reserved,
    /// The dynamic table, with some room.
    pub(crate) dynamic: Extent,
    pub(crate) preinit_array: Extent,
    pub(crate) library_initializers: Extent,
    pub(crate) library_finalizers: Extent,
    pub(crate) init_array: Extent,
    pub(crate) fini_array: Extent,
    /// Whether the preamble fills the table of functions outside, and protects it; else the loader does at once.
    pub(crate) filled: bool,
    /// That table, in pages of its own.
    pub(crate) table: Extent,
    /// What the loader copies of the C library's data.
    pub(crate) copies: Extent,
    /// Names for the loader, which it may add to, and behind them `finish`.
    pub(crate) names: Extent,
    /// A word that the preamble writes to.
    pub(crate) finish: BundleVa,
    /// Where the read-only tables begin.
    pub(crate) end: BundleVa,
    /// Arrays, as addresses and values.
    pub(crate) fixups: Vec<Fixup>,
}

impl OwnData {
    /// `filled`: the preamble fills the table. `names`: how many names for the loader.
    pub(crate) fn new(
        (reserved, filled): (Reserved, bool),
        dynamic_entries: usize,
        functions: &Functions,
        (fixups, outside): (&Fixups<'_>, &Outside<'_>),
        names: usize,
    ) -> OwnData {
        let mut free = aligned(reserved.slots.end(), 16);
        let mut take = |size: usize| {
            let extent = Extent { start: free, size: size as u64 };
            free = aligned(extent.end(), 16);
            extent
        };
        let words = |values: &[Value]| 8 * values.len();
        let dynamic = take(DynamicEntry::SIZE * dynamic_entries);
        // One more than the program's, for the preamble.
        let preinit_array = take(words(&functions.preinit) + 8);
        let library_initializers = take(words(&functions.library_initializers));
        let library_finalizers = take(words(&functions.library_finalizers));
        let init_array = take(words(&functions.init));
        let fini_array = take(words(&functions.fini));
        let chain = NODE * names as u64;
        // Right behind what becomes read-only, as its pages do too.
        let table = Extent { start: aligned(free, PAGE), size: outside.table_bytes() };
        let copies = Extent { start: aligned(table.end(), PAGE), size: outside.copy_bytes() };
        let names = Extent { start: aligned(copies.end(), LINE), size: chain + 8 };
        let mut own = OwnData {
            reserved,
            dynamic,
            preinit_array,
            library_initializers,
            library_finalizers,
            init_array,
            fini_array,
            filled,
            table,
            copies,
            names,
            finish: names.start + chain,
            end: aligned(names.end(), PAGE),
            fixups: Vec::new(),
        };
        own.fixups.extend(words_at(preinit_array.start + 8, &functions.preinit));
        own.fixups.extend(words_at(library_initializers.start, &functions.library_initializers));
        own.fixups.extend(words_at(library_finalizers.start, &functions.library_finalizers));
        own.fixups.extend(words_at(init_array.start, &functions.init));
        own.fixups.extend(words_at(fini_array.start, &functions.fini));
        own.fixups.extend(outside.entries(&own.places()));
        own.set_preamble();
        own.set_slots(fixups);
        own
    }

    /// Where stubs, table and copies begin.
    pub(crate) fn places(&self) -> Places {
        let stubs = self.reserved.stubs.start;
        Places { stubs, table: self.table.start, copies: self.copies.start }
    }

    /// All of it, which is written.
    pub(crate) fn extent(&self) -> Extent {
        let start = self.reserved.start;
        Extent { start, size: self.names.end() - start }
    }

    /// What the loader makes read-only.
    pub(crate) fn relro(&self) -> Extent {
        let start = self.reserved.start;
        let end = if self.filled { self.table.start } else { self.copies.start };
        Extent { start, size: end - start }
    }

    /// The preamble's function, before all others.
    fn set_preamble(&mut self) {
        let entry = self.reserved.preamble.start + startup::entry();
        self.fixups.push(Fixup { at: self.preinit_array.start, value: Value::Address(entry) });
    }

    /// The functions of the C library, for the wrappers of those that are used.
    fn set_slots(&mut self, fixups: &Fixups<'_>) {
        // What is looked up for a call passes over a stub of the program.
        let kind = spec::R_X86_64_JUMP_SLOT;
        for function in WrappedFunction::ALL {
            if let Some(&reference) = fixups.replaced.get(&function) {
                let at = self.reserved.slots.start + 8 * function as u64;
                let value = Value::LookedUp { reference, kind, addend: 0 };
                self.fixups.push(Fixup { at, value });
            }
        }
    }

    /// The chain of names; `names`: their addresses.
    /// Behind the first `own` of them, which are the bundle's, are those of plug-ins, which the preamble links.
    pub(crate) fn chain(&self, names: &[BundleVa], own: usize) -> Vec<Fixup> {
        let mut fixups = Vec::new();
        for (index, &name) in names.iter().enumerate() {
            let node = self.names.start + NODE * index as u64;
            let next = match index + 1 < own {
                true => Value::Address(node + NODE),
                false => Value::Constant(0),
            };
            // The loader must not free what it has not allocated.
            fixups.extend(words_at(node, &[Value::Address(name), next, Value::Constant(1)]));
        }
        fixups
    }

    /// Where the name of this number has its place.
    pub(crate) fn node(&self, number: usize) -> BundleVa {
        self.names.start + NODE * number as u64
    }
}

/// Words one behind the other.
fn words_at(start: BundleVa, values: &[Value]) -> impl Iterator<Item = Fixup> + '_ {
    let places = (0..).step_by(8).map(move |offset| start + offset);
    places.zip(values).map(|(at, &value)| Fixup { at, value })
}
