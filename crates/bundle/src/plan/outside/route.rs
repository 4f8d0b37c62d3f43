//! Which references go through the table, and which to copies of data.

use super::copies::Copies;
use super::{Exported, Outside, Stub, StubId, Target};
use crate::choose::members;
use crate::plan::exports::ExportVersion;
use crate::plan::fixups::{Fixup, Fixups, Value};
use crate::plan::freshness;
use crate::plan::layout::Layout;
use crate::plan::references::{ReferenceId, References};
use image::elf::loadable::{SymbolKind, Visibility};
use image::elf::spec;
use loader::Graph;
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
        let definition = self.references.definition(reference);
        let is_function = definition.is_some_and(|at| self.is_function(at));
        let passes = calls || is_word && addend == 0;
        if let Some(at) = definition.filter(|_| is_function && passes)
            && let Some(stub) = self.stub(reference, at, calls)
        {
            return Value::Stub(stub);
        }
        if let Some(copy) = definition.filter(|_| is_word).and_then(|at| self.copies.of(at)) {
            return Value::OutsideCopy { copy, addend };
        }
        // What is looked up for a call passes over stubs of other versions, and of the program.
        let of_program = self.program_stubs.contains(self.references.name(reference));
        let kind = match passes && is_function && !of_program {
            true => spec::R_X86_64_JUMP_SLOT,
            false => kind,
        };
        Value::LookedUp { reference, kind, addend }
    }

    fn is_function(&self, at: SymbolRef) -> bool {
        let symbol = self.graph[at.module].image.symbol(at.symbol);
        let kinds = [SymbolKind::Function, SymbolKind::IndirectFunction];
        symbol.is_some_and(|symbol| symbol.defined && kinds.contains(&symbol.kind))
    }

    /// The stub of a function: of one that only is called, any function's. By whatever names and versions, a
    /// function has one stub.
    fn stub(&mut self, reference: ReferenceId, at: SymbolRef, calls: bool) -> Option<StubId> {
        let name = self.references.name(reference);
        let exported = self.exported(name, at);
        if !calls && exported.is_none() {
            return None;
        }
        let value = self.graph[at.module].image.symbol(at.symbol)?.value;
        let Outside { stubs, functions, .. } = &mut self.outside;
        let number = *functions.entry((at.module, value)).or_insert_with(|| {
            let target = Target::Function(reference);
            stubs.push(Stub { target, name, exported: Vec::new() });
            StubId(stubs.len() as u32 - 1)
        });
        let stub = stubs.get_mut(number.0 as usize)?;
        let exported = exported.map(|exported| (name, exported));
        stub.exported.extend(exported.filter(|one| !stub.exported.contains(one)));
        Some(number)
    }

    fn selected(&mut self, resolver: BundleVa) -> StubId {
        let Outside { stubs, selected, .. } = &mut self.outside;
        *selected.entry(resolver).or_insert_with(|| {
            let target = Target::Selected(resolver);
            stubs.push(Stub { target, name: b"", exported: Vec::new() });
            StubId(stubs.len() as u32 - 1)
        })
    }

    /// How a stub is exported that is the function's address for all. The C library and the loader look their own
    /// functions up by name, as all may be replaced; others may know them without.
    fn exported(&self, name: &[u8], at: SymbolRef) -> Option<Exported> {
        let definer = &self.graph[at.module];
        let symbol = definer.image.symbol(at.symbol)?;
        if !freshness::is_base(self.graph, definer)
            || symbol.visibility != Visibility::Default
            || self.program_stubs.contains(name)
        {
            return None;
        }
        let (number, hidden) = definer.image.symbol_version(at.symbol)?;
        let version = definer.image.version(number).filter(|version| version.hash != 0)?;
        let library = members::name_of(definer);
        let version = ExportVersion::Needed(library, version.name.clone());
        Some(Exported { version, hidden, source: at })
    }
}
