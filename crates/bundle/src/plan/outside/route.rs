//! Which references go through the table, and which to copies of data.

use super::copies::Copies;
use super::{Exported, Outside, Stub, StubId, Target};
use crate::choose::members;
use crate::plan::exports::ExportVersion;
use crate::plan::fixups::{Fixup, Fixups, Value};
use crate::plan::layout::Layout;
use crate::plan::references::{ReferenceId, References};
use image::elf::loadable::{SymbolKind, Visibility};
use image::elf::spec;
use loader::{Graph, Module};
use model::{BundleVa, SymbolRef};
use std::collections::HashSet;

/// Gives each function of the C library, and each that a resolver selects, a stub, and lets relocations mean
/// these. What cannot go through a stub or a copy stays as it is.
pub(crate) fn route<'a>(
    graph: &'a Graph,
    layout: &Layout<'a>,
    fixups: &mut Fixups<'a>,
    program_stubs: &HashSet<&[u8]>,
) -> Outside<'a> {
    let mut router = Router {
        graph,
        references: &fixups.references,
        program_stubs,
        outside: Outside::default(),
        copies: Copies::new(graph, layout),
    };
    // The loader's entries of the table come first.
    for Fixup { value, .. } in &mut fixups.all {
        if let Value::LookedUp { reference, kind, addend } = *value {
            *value = router.looked_up(reference, kind, addend);
        }
    }
    for Fixup { value, .. } in &mut fixups.all {
        if let Value::Resolved(resolver) = *value {
            *value = Value::Stub(router.selected(resolver));
        }
    }
    let Router { copies, outside, .. } = router;
    Outside { copies: copies.done(), ..outside }
}

struct Router<'r, 'a> {
    graph: &'a Graph,
    references: &'r References<'a>,
    /// Functions for whose addresses the program has stubs of its own.
    program_stubs: &'r HashSet<&'r [u8]>,
    outside: Outside<'a>,
    copies: Copies<'a>,
}

impl<'a> Router<'_, 'a> {
    fn looked_up(&mut self, reference: ReferenceId, kind: u32, addend: i64) -> Value {
        let calls = kind == spec::R_X86_64_JUMP_SLOT;
        let is_word = matches!(kind, spec::R_X86_64_GLOB_DAT | spec::R_X86_64_64);
        if let Some(stub) = self.stub(reference, calls).filter(|_| calls || is_word && addend == 0)
        {
            return Value::Stub(stub);
        }
        let definition = self.references.definition(reference);
        if let Some(copy) = definition.filter(|_| is_word).and_then(|at| self.copies.of(at)) {
            return Value::OutsideCopy { copy, addend };
        }
        // What is looked up for a call passes over stubs of other versions, and of the program.
        let of_program = self.program_stubs.contains(self.references.name(reference));
        let passes = is_word && addend == 0 && !of_program && self.is_function(reference);
        let kind = if passes { spec::R_X86_64_JUMP_SLOT } else { kind };
        Value::LookedUp { reference, kind, addend }
    }

    /// The stub of a function: of one that only is called, any function's.
    fn stub(&mut self, reference: ReferenceId, calls: bool) -> Option<StubId> {
        let definition = self.references.definition(reference)?;
        let exported = self.exported(reference, definition);
        if !self.is_function(reference) || !(calls || exported.is_some()) {
            return None;
        }
        let name = self.references.name(reference);
        let stub = Stub { target: Target::Function(reference), name, exported };
        Some(self.add(stub))
    }

    fn is_function(&self, reference: ReferenceId) -> bool {
        let symbol = |at: SymbolRef| self.graph[at.module].image.symbol(at.symbol);
        let symbol = self.references.definition(reference).and_then(symbol);
        let kinds = [SymbolKind::Function, SymbolKind::IndirectFunction];
        symbol.is_some_and(|symbol| kinds.contains(&symbol.kind))
    }

    fn selected(&mut self, resolver: BundleVa) -> StubId {
        self.add(Stub { target: Target::Selected(resolver), name: b"", exported: None })
    }

    fn add(&mut self, stub: Stub<'a>) -> StubId {
        let Outside { stubs, numbers, .. } = &mut self.outside;
        *numbers.entry(stub.target).or_insert_with(|| {
            stubs.push(stub);
            StubId(stubs.len() as u32 - 1)
        })
    }

    /// How a stub is exported that is the function's address for all. The C library and the loader look their own
    /// functions up by name, as all may be replaced; others may know them without.
    fn exported(&self, reference: ReferenceId, definition: SymbolRef) -> Option<Exported> {
        let definer = &self.graph[definition.module];
        let symbol = definer.image.symbol(definition.symbol)?;
        let name = self.references.name(reference);
        if !is_c_library(self.graph, definer)
            || symbol.visibility != Visibility::Default
            || self.program_stubs.contains(name)
        {
            return None;
        }
        let (library, version) = self.references.version(reference)?;
        let (_, hidden) = definer.image.symbol_version(definition.symbol)?;
        Some(Exported {
            version: ExportVersion::Needed(library.clone(), version.clone()),
            hidden,
            source: definition,
        })
    }
}

/// Whether this is the C library or the loader.
pub(super) fn is_c_library(graph: &Graph, module: &Module) -> bool {
    module.path == graph.interpreter || members::name_of(module).starts_with("libc.so.")
}
