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
mod tls;

use crate::choose::members::Membership;
use crate::error::BundleError;
use crate::tables::dynamic;
use crate::tables::relocations::Relocations;
use crate::tables::{BUILD_ID, Contents, ReadOnly, Table};
use dependencies::Dependencies;
use fixups::Fixups;
use image::elf::loadable::Section;
use image::elf::records::{DynamicEntry, FileHeader, Identification};
use layout::{Bases, Layout};
use loader::{Graph, Relocated};
use model::BundleVa;
use own_data::{Extent, OwnData, Reserved};
use std::ffi::OsStr;
use std::path::Path;

/// Entries of the dynamic table besides the libraries that are needed.
const DYNAMIC_ENTRIES: usize = 34;

/// Which bundle is asked for.
pub(crate) struct BundleSpec<'a> {
    /// Path of the program, which is told to the process.
    pub(crate) program: &'a Path,
    /// Base name of the bundle's file.
    pub(crate) own_name: &'a OsStr,
    pub(crate) bases: Bases,
    /// ET_EXEC: nothing moves.
    pub(crate) fixed: bool,
}

impl BundleSpec<'_> {
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
    pub(crate) dynamic: Vec<DynamicEntry>,
    pub(crate) sections: Vec<Section>,
    pub(crate) relocations: Relocations,
    pub(crate) fixed: bool,
    /// That of the program.
    pub(crate) ident: Identification,
    /// Where the file is entered.
    pub(crate) entry: BundleVa,
}

impl Plan<'_> {
    /// The table with a section of this name, which every bundle has.
    pub(crate) fn table(&self, name: &str) -> &Table {
        self.find_table(name).expect("every bundle has this table")
    }

    /// The table with a section of this name.
    pub(crate) fn find_table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.section.name == name)
    }

    /// The dynamic table, with the DT_NULL at its end.
    pub(crate) fn dynamic_extent(&self) -> Extent {
        let size = DynamicEntry::SIZE * (self.dynamic.len() + 1);
        Extent { size: size as u64, ..self.own.dynamic }
    }

    /// Where the tables, and all that is loaded, end.
    pub(crate) fn tables_end(&self) -> BundleVa {
        let last = &self.tables[self.tables.len() - 1];
        last.address() + last.section.header.size
    }

    /// Sets the build-id: the whole note.
    pub(crate) fn set_build_id(&mut self, note: Vec<u8>) {
        let table = self.tables.iter_mut().find(|table| table.section.name == BUILD_ID);
        let table = table.expect("every bundle has this table");
        assert_eq!(table.bytes.len(), note.len(), "there is room for just this note");
        table.bytes = note;
    }
}

/// Thinks it out.
pub(crate) fn plan<'a>(
    graph: &'a Graph,
    relocated: &[Relocated],
    memberships: &[Membership],
    spec: &BundleSpec<'_>,
) -> Result<Plan<'a>, BundleError> {
    let layout =
        Layout::new(graph, memberships, spec.bases).map_err(|reason| spec.declined(reason))?;
    let preamble = preamble::new(spec, freshness::records(graph)?, &layout)?;
    let reserved = Reserved::new(&layout, preamble.size());
    let fixups = fixups::collect(graph, relocated, &layout, reserved.template)?;
    let functions = initializers::collect(graph, &layout, &fixups);
    let dependencies = Dependencies::of(graph, memberships);
    let names = loader_names::of_merged(graph, &layout);
    let room = dependencies.names.len() + DYNAMIC_ENTRIES;
    let mut own = OwnData::new(reserved, room, &functions, &fixups, names.len());
    let exports = exports::collect(graph, relocated, &layout);
    let contents = Contents {
        graph,
        spec,
        layout: &layout,
        fixups: &fixups,
        exports: &exports,
        dependencies: &dependencies,
        names: &names,
    };
    let ReadOnly { tables, mut sections, relocations, needed, search } =
        contents.build(&mut own)?;
    let header = FileHeader::read(layout.program().image.bytes());
    let mut plan = Plan {
        entry: layout.preamble() + startup::start(),
        ident: header.map(|header| header.ident).unwrap_or_default(),
        preamble: preamble.bytes(&preamble::addresses(&layout, &own)),
        layout,
        own,
        tables,
        dynamic: Vec::new(),
        sections: Vec::new(),
        relocations,
        fixed: spec.fixed,
        fixups,
    };
    plan.dynamic = dynamic::entries(&plan, &needed, search);
    dynamic::add_sections(&plan, &mut sections);
    plan.sections = sections;
    Ok(plan)
}
