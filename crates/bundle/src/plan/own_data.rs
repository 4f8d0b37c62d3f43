//! The bundle's own writable data: initial thread-local storage, slots of wrapped functions, the
//! dynamic table, arrays of functions, and behind what becomes read-only the names for the loader.

use crate::plan::fixups::{Fixup, Fixups, Value};
use crate::plan::initializers::Functions;
use crate::plan::layout::{Layout, PAGE, up};
use crate::plan::loader_names::NODE;
use image::elf::spec;
use startup::Function;

/// Bytes of an entry of the dynamic table.
const DYNAMIC_ENTRY: u64 = 16;

/// What is known before relocations are gone through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reserved {
    /// The preamble.
    pub(crate) preamble: Array,
    /// Beginning of the data.
    pub(crate) start: u64,
    /// Initial thread-local storage.
    pub(crate) template: u64,
    /// Words that the loader fills with the functions that the preamble wraps.
    pub(crate) slots: u64,
    /// The first free address behind the slots.
    end: u64,
}

impl Reserved {
    pub(crate) fn new(layout: &Layout<'_>, preamble_size: u64) -> Reserved {
        let preamble = Array { at: layout.preamble(), size: up(preamble_size, PAGE) };
        let start = preamble.at + preamble.size;
        let template = up(start, layout.tls.alignment.max(16));
        let slots = up(template + layout.tls.size, 16);
        let end = slots + 8 * Function::ALL.len() as u64;
        Reserved { preamble, start, template, slots, end }
    }
}

/// An array of words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Array {
    pub(crate) at: u64,
    pub(crate) size: u64,
}

/// Where everything is.
#[derive(Clone, Debug)]
pub(crate) struct OwnData {
    pub(crate) reserved: Reserved,
    pub(crate) dynamic: Array,
    pub(crate) before_all: Array,
    pub(crate) libraries: Array,
    pub(crate) libraries_end: Array,
    pub(crate) initialise: Array,
    pub(crate) finalise: Array,
    /// Names for the loader, which it may add to, and behind them `finish`.
    pub(crate) nodes: Array,
    /// A word that the preamble writes to.
    pub(crate) finish: u64,
    pub(crate) end: u64,
    /// Arrays and names, as addresses and values.
    pub(crate) fixups: Vec<Fixup>,
}

impl OwnData {
    /// `names`: how many names for the loader.
    pub(crate) fn new(
        reserved: Reserved,
        dynamic_entries: usize,
        functions: &Functions,
        fixups: &Fixups<'_>,
        names: usize,
    ) -> OwnData {
        let mut free = up(reserved.end, 16);
        let mut take = |size: u64| {
            let array = Array { at: free, size };
            free = up(free + size, 16);
            array
        };
        let words = |values: &[Value]| 8 * values.len() as u64;
        let dynamic = take(DYNAMIC_ENTRY * dynamic_entries as u64);
        // One more than the program's, for the preamble.
        let before_all = take(words(&functions.before_all) + 8);
        let libraries = take(words(&functions.libraries));
        let libraries_end = take(words(&functions.libraries_end));
        let initialise = take(words(&functions.initialise));
        let finalise = take(words(&functions.finalise));
        let finish = up(free, PAGE) + NODE * names as u64;
        let nodes = Array { at: up(free, PAGE), size: NODE * names as u64 + 8 };
        let end = up(nodes.at + nodes.size, PAGE);
        let mut own = OwnData {
            reserved,
            dynamic,
            before_all,
            libraries,
            libraries_end,
            initialise,
            finalise,
            nodes,
            finish,
            end,
            fixups: Vec::new(),
        };
        own.array(own.before_all.at + 8, &functions.before_all);
        own.array(own.libraries.at, &functions.libraries);
        own.array(own.libraries_end.at, &functions.libraries_end);
        own.array(own.initialise.at, &functions.initialise);
        own.array(own.finalise.at, &functions.finalise);
        own.set_preamble();
        own.set_slots(fixups);
        own
    }

    fn array(&mut self, at: u64, values: &[Value]) {
        let places = (at..).step_by(8);
        self.fixups.extend(places.zip(values).map(|(at, &value)| Fixup { at, value }));
    }

    /// The preamble's function, before all others.
    fn set_preamble(&mut self) {
        let entry = self.reserved.preamble.at + startup::entry();
        self.fixups.push(Fixup { at: self.before_all.at, value: Value::Address(entry) });
    }

    /// The functions of the C library, for the wrappers of those that are used.
    fn set_slots(&mut self, fixups: &Fixups<'_>) {
        let kind = spec::R_X86_64_GLOB_DAT;
        for (function, at) in Function::ALL.iter().zip((self.reserved.slots..).step_by(8)) {
            if let Some(&symbol) = fixups.replaced.get(function) {
                self.fixups.push(Fixup { at, value: Value::Left { symbol, kind, addend: 0 } });
            }
        }
    }

    /// The chain of names; `names`: their addresses.
    pub(crate) fn set_names(&mut self, names: &[u64]) {
        for (index, &name) in names.iter().enumerate() {
            let node = self.nodes.at + NODE * index as u64;
            let next = (index + 1 < names.len()).then_some(Value::Address(node + NODE));
            let values = [Value::Address(name), next.unwrap_or(Value::Constant(0))];
            self.array(node, &values);
            // The loader must not free what it has not allocated.
            self.fixups.push(Fixup { at: node + 16, value: Value::Constant(1) });
        }
    }

    /// Whether there are names for the loader.
    pub(crate) fn has_names(&self) -> bool {
        self.finish > self.nodes.at
    }

    /// Where what becomes read-only ends.
    pub(crate) fn relro_end(&self) -> u64 {
        self.nodes.at
    }
}
