//! A bundle, thought out to the last byte before the first is written.

pub(crate) mod bases;
pub(crate) mod dependencies;
pub(crate) mod exports;
pub(crate) mod fixups;
mod freshness;
mod initializers;
pub(crate) mod layout;
mod loader_names;
pub(crate) mod own_data;
mod preamble;
pub(crate) mod references;
mod symlinks;
mod system;
mod tls;

use crate::choose::members::Place;
use crate::error::BundleError;
use crate::plan::dependencies::Needs;
use crate::plan::fixups::Fixups;
use crate::plan::layout::{Bases, Layout};
use crate::plan::own_data::{OwnData, Reserved};
use crate::tables::dynamic;
use crate::tables::relocations::Relocations;
use crate::tables::sections::Section;
use crate::tables::{BUILD_ID, ReadOnly, Table};
use loader::{Graph, Relocated};
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

impl Wanted<'_> {
    /// That there is no bundle, for this reason.
    pub(crate) fn declined(&self, reason: String) -> BundleError {
        BundleError::Declined { program: self.program.display().to_string(), reason }
    }
}

/// Everything that is to be written; the build-id is set when the files' contents are known.
pub(crate) struct Plan<'a> {
    pub(crate) layout: Layout<'a>,
    pub(crate) fixups: Fixups<'a>,
    pub(crate) own: OwnData,
    pub(crate) preamble: Vec<u8>,
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
    let declined = |reason| wanted.declined(reason);
    let layout = Layout::new(graph, places, wanted.bases).map_err(declined)?;
    let preamble = preamble::new(wanted, freshness::records(graph)?, graph, &layout)?;
    let reserved = Reserved::new(&layout, preamble.size());
    let fixups = fixups::collect(graph, relocated, &layout, reserved.template)?;
    let functions = initializers::collect(graph, &layout, &fixups);
    let needs = Needs::of(graph, places);
    let names = loader_names::of_merged(graph, &layout);
    let room = needs.names.len() + DYNAMIC_ENTRIES;
    let mut own = OwnData::new(reserved, room, &functions, &fixups, names.len());
    let exports = exports::collect(graph, relocated, &layout);
    let read_only = ReadOnly::new(graph, &layout, &fixups, own.end);
    let mut read_only = read_only.with_symbols(&exports, wanted, &needs, &names)?;
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
        entry: layout.preamble() + startup::start(),
        preamble: preamble.bytes(&preamble::addresses(&layout, &own)),
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
