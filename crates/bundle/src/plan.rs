//! A bundle, thought out to the last byte before the first is written.

use crate::dynamic;
use crate::error::BundleError;
use crate::exports;
use crate::fixups::{self, Fixups};
use crate::freshness;
use crate::guard::{self, Addresses};
use crate::initialisers;
use crate::layout::{Bases, Layout};
use crate::members::Place;
use crate::names;
use crate::needs::Needs;
use crate::own::{Begun, Own};
use crate::read_only::{BUILD_ID, ReadOnly, Table};
use crate::sections::Section;
use crate::tables::Relocations;
use loader::{Graph, Relocated};
use os::startup_guard::{Function, Tables};
use std::ffi::OsStr;
use std::path::Path;

/// Entries of the dynamic table besides the libraries that are needed.
const DYNAMIC_ENTRIES: usize = 34;

/// What is asked for.
pub(crate) struct Wanted<'a> {
    /// Path of the program, which is told to the process.
    pub(crate) program: &'a Path,
    /// Base name of the bundle's file.
    pub(crate) own_name: &'a OsStr,
    pub(crate) bases: Bases,
    /// ET_EXEC: nothing moves.
    pub(crate) fixed: bool,
}

/// Everything that is to be written; the build-id is set when the files' contents are known.
pub(crate) struct Plan<'a> {
    pub(crate) layout: Layout<'a>,
    pub(crate) fixups: Fixups<'a>,
    pub(crate) own: Own,
    pub(crate) guard: Vec<u8>,
    pub(crate) tables: Vec<Table>,
    pub(crate) dynamic: Vec<(u64, u64)>,
    pub(crate) sections: Vec<Section>,
    pub(crate) relocations: Relocations,
    pub(crate) fixed: bool,
    /// Where the file is entered.
    pub(crate) entry: u64,
}

impl Plan<'_> {
    /// The table with a section of this name.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.section.name == name)
    }

    /// Sets the build-id: the whole note.
    pub(crate) fn set_build_id(&mut self, note: Vec<u8>) {
        let table = self.tables.iter_mut().find(|table| table.section.name == BUILD_ID);
        if let Some(table) = table {
            debug_assert_eq!(table.bytes.len(), note.len());
            table.bytes = note;
        }
    }
}

/// Thinks it out.
pub(crate) fn plan<'a>(
    graph: &'a Graph,
    relocated: &[Relocated],
    places: &[Place],
    wanted: &Wanted<'_>,
) -> Result<Plan<'a>, BundleError> {
    let declined = |reason: String| BundleError::Declined {
        program: wanted.program.display().to_string(),
        reason,
    };
    let layout = Layout::new(graph, places, wanted.bases).map_err(declined)?;
    let mut start = Beginning::new(graph, &layout, wanted)?;
    let template = start.begun.template;
    let fixups = fixups::collect(graph, relocated, &layout, template, &start.replaced)?;
    let needs = Needs::of(graph, places);
    let mut own = start.own(graph, &layout, &fixups, &needs);
    let blob = guard::blob(wanted.program, &start.guard)?;
    let exports = exports::collect(graph, relocated, &layout);
    let read_only = ReadOnly::new(graph, &layout, &fixups, own.end);
    let mut read_only = read_only.with_symbols(&exports, wanted, &needs, &start.names)?;
    own.set_names(&read_only.names);
    read_only.add_program_tables().map_err(declined)?;
    let copies = fixups.copied_later.iter().filter_map(|&(module, symbol, at)| {
        let export = exports.iter().position(|export| export.source == (module, symbol))?;
        Some((*read_only.of_exports.get(export)?, at))
    });
    let all = fixups.all.iter().chain(&own.fixups).copied();
    let relocations = Relocations::new(all, copies, wanted.fixed);
    read_only.add_relocations(&relocations, wanted.fixed);
    let ReadOnly { tables, mut sections, needed, search, .. } = read_only;
    let mut plan = Plan {
        entry: start.begun.guard + blob.start.unwrap_or_default(),
        guard: blob.bytes,
        layout,
        own,
        tables,
        dynamic: Vec::new(),
        sections: Vec::new(),
        relocations,
        fixed: wanted.fixed,
        fixups,
    };
    plan.dynamic = dynamic::entries(&plan, &needed, search);
    dynamic::sections(&plan, &mut sections);
    plan.sections = sections;
    Ok(plan)
}

/// What has to be known before relocations are gone through: where the guard is, and its
/// functions in it.
struct Beginning {
    guard: Tables,
    begun: Begun,
    /// Offset of the guard's own function for DT_PREINIT_ARRAY.
    entry: u64,
    replaced: Vec<(&'static str, u64)>,
    /// Names for the loader.
    names: Vec<Vec<u8>>,
}

impl Beginning {
    fn new(graph: &Graph, layout: &Layout<'_>, wanted: &Wanted<'_>) -> Result<Self, BundleError> {
        let records = freshness::records(graph)?;
        let mut guard = guard::tables(wanted.program, wanted.own_name, records, layout);
        let names = names::of_merged(graph, layout);
        // Its length does not depend on where anything is.
        let nowhere = Addresses { names: (!names.is_empty()).then_some(0), ..Addresses::default() };
        guard::place(&mut guard, graph, layout, &Begun::default(), &nowhere);
        let blob = guard::blob(wanted.program, &guard)?;
        let begun = Begun::new(layout, guard::room(&blob), guard.slots.len());
        let wrappers = blob.wrappers.iter();
        let replaced =
            wrappers.map(|(function, offset)| (function.name(), begun.guard + offset)).collect();
        Ok(Beginning { guard, begun, entry: blob.entry, replaced, names })
    }

    /// Places the bundle's own data, and tells the guard where it is.
    fn own(
        &mut self,
        graph: &Graph,
        layout: &Layout<'_>,
        fixups: &Fixups<'_>,
        needs: &Needs,
    ) -> Own {
        let functions = initialisers::collect(graph, layout, fixups);
        let room = needs.names.len() + DYNAMIC_ENTRIES;
        let mut own = Own::new(self.begun, room, &functions, self.names.len());
        own.set_guard(self.begun.guard + self.entry);
        let wrapped: Vec<Function> =
            self.guard.slots.iter().map(|(function, _)| *function).collect();
        own.set_slots(fixups, &wrapped);
        let addresses = Addresses {
            dynamic: own.dynamic.at,
            names: (!self.names.is_empty()).then_some(own.nodes.at),
            libraries: own.libraries,
            libraries_end: own.libraries_end,
            finish: own.finish,
        };
        guard::place(&mut self.guard, graph, layout, &self.begun, &addresses);
        own
    }
}
