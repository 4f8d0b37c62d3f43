//! A bundle, thought out to the last byte before the first is written.

use crate::error::BundleError;
use crate::exports::{self, Export, Placed};
use crate::fixups::{self, Fixups};
use crate::freshness;
use crate::guard::{self, Addresses};
use crate::initialisers;
use crate::layout::{Bases, Layout, up};
use crate::members::{self, Place};
use crate::names;
use crate::needs;
use crate::own::{Begun, Own};
use crate::sections::{self, Section};
use crate::strings::Strings;
use crate::symbols::{self, Symbols};
use crate::tables::Relocations;
use crate::unwind;
use crate::versions::Versions;
use image::loadable::{SymbolKind, Version};
use image::spec;
use loader::{Graph, Relocated};
use os::startup_guard::Function;
use std::ffi::OsStr;
use std::path::Path;

/// Name of the version that the loader must know where there are packed relocations.
const PACKED_VERSION: &str = "GLIBC_ABI_DT_RELR";
const C_LIBRARY: &str = "libc.so.6";
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

/// A table in the read-only part at the end.
pub(crate) struct Table {
    pub(crate) section: Section,
    pub(crate) bytes: Vec<u8>,
}

/// Everything that is to be written.
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
    let records = freshness::records(graph)?;
    let mut guard = guard::tables(wanted.program, wanted.own_name, records, &layout);
    let names = names::of_merged(graph, &layout);
    let nowhere = Addresses { names: (!names.is_empty()).then_some(0), ..Addresses::default() };
    guard::place(&mut guard, graph, &layout, &Begun::default(), &nowhere);
    let first_blob = guard::blob(wanted.program, &guard)?;
    let slots = guard.slots.len();
    let begun = Begun::new(&layout, guard::room(&first_blob), slots);
    let wrappers = first_blob.wrappers.iter();
    let replaced: Vec<(&'static str, u64)> =
        wrappers.map(|(function, offset)| (function.name(), begun.guard + offset)).collect();
    let fixups = fixups::collect(graph, relocated, &layout, begun.template, &replaced)?;
    let functions = initialisers::collect(graph, &layout, &fixups);
    let needed = needs::of(graph, places);
    let dynamic_room = needed.len() + DYNAMIC_ENTRIES;
    let mut own = Own::new(begun, dynamic_room, &functions, names.len());
    own.set_guard(begun.guard + first_blob.entry);
    own.set_slots(&fixups, &guard.slots.iter().map(|(f, _)| *f).collect::<Vec<Function>>());
    let addresses = Addresses {
        dynamic: own.dynamic.at,
        names: nowhere.names.map(|_| own.nodes.at),
        libraries: own.libraries,
        libraries_end: own.libraries_end,
        finish: own.finish,
    };
    guard::place(&mut guard, graph, &layout, &begun, &addresses);
    let blob = guard::blob(wanted.program, &guard)?;

    let exports = exports::collect(graph, relocated, &layout);
    let mut writing = Writing {
        graph,
        layout: &layout,
        fixups: &fixups,
        sections: sections::of_members(graph, &layout),
        strings: Strings::new(),
        tables: Vec::new(),
        address: own.end,
        offset: layout.file_end + (own.end - layout.end),
    };
    let symbols = writing.symbols(&exports, wanted).ok_or_else(|| {
        declined("its libraries have more versions than one file can number".to_owned())
    })?;
    let needed: Vec<u32> = needed.iter().map(|name| writing.strings.add(name.as_bytes())).collect();
    let search = needs::search_path(graph, places);
    let search = search.map(|(tag, path)| (tag, writing.strings.add(path.as_bytes())));
    let name_offsets: Vec<u32> = names.iter().map(|name| writing.strings.add(name)).collect();
    writing.symbol_tables(&symbols);
    let strings = writing.address_of(".dynstr");
    let names: Vec<u64> = name_offsets.iter().map(|&at| strings + u64::from(at)).collect();
    own.set_names(&names);
    writing.program_tables(wanted).map_err(declined)?;
    let own_fixups = own.fixups.iter().copied();
    let copies = fixups.copied_later.iter().filter_map(|&(module, symbol, at)| {
        let export = exports.iter().position(|export| export.source == (module, symbol))?;
        Some((*symbols.of_exports.get(export)?, at))
    });
    let all = fixups.all.iter().copied().chain(own_fixups);
    let relocations = Relocations::new(all, copies, wanted.fixed);
    writing.relocation_tables(&relocations, wanted.fixed);
    let (tables, mut sections) = (writing.tables, writing.sections);
    let mut plan = Plan {
        layout,
        own,
        guard: blob.bytes,
        entry: begun.guard + blob.start.unwrap_or_default(),
        tables,
        dynamic: Vec::new(),
        sections: Vec::new(),
        relocations,
        fixed: wanted.fixed,
        fixups,
    };
    plan.dynamic = crate::dynamic::entries(&plan, &needed, search);
    crate::dynamic::sections(&plan, &mut sections);
    plan.sections = sections;
    Ok(plan)
}

/// The tables at the end, one after the other.
struct Writing<'m, 'a> {
    graph: &'a Graph,
    layout: &'m Layout<'a>,
    fixups: &'m Fixups<'a>,
    sections: Vec<Section>,
    strings: Strings,
    tables: Vec<Table>,
    address: u64,
    offset: u64,
}

impl<'a> Writing<'_, 'a> {
    fn add(&mut self, name: &str, kind: u32, entry: u64, alignment: u64, bytes: Vec<u8>) {
        let aligned = up(self.address, alignment);
        self.offset += aligned - self.address;
        let size = bytes.len() as u64;
        let section = Section {
            name: name.to_owned(),
            kind,
            flags: spec::SHF_ALLOC,
            address: aligned,
            offset: self.offset,
            size,
            alignment,
            entry,
            ..Section::default()
        };
        self.address = aligned + size;
        self.offset += size;
        self.tables.push(Table { section, bytes });
    }

    fn address_of(&self, name: &str) -> u64 {
        let table = self.tables.iter().find(|table| table.section.name == name);
        table.map_or(0, |table| table.section.address)
    }

    fn symbols(&mut self, exports: &[Export<'a>], wanted: &Wanted<'_>) -> Option<Symbols> {
        let merged = self.layout.members.iter().flat_map(|member| member.image.versions());
        let merged = merged.filter(|version: &&Version| version.library.is_none());
        let left = self.fixups.left.references.iter().map(|(reference, ..)| reference);
        let own = wanted.own_name.to_string_lossy();
        let required = (!wanted.fixed).then_some((C_LIBRARY, PACKED_VERSION));
        let merged = merged.map(|version| version.name.as_slice());
        let versions = Versions::new(merged, &own, required, exports, left, &mut self.strings)?;
        // Behind the modules come the guard and the initial thread-local storage.
        let thread_local = self.sections.len() as u16 + 1;
        let section = |export: &Export<'_>| match (export.placed, export.kind) {
            (Placed::Absolute, _) => spec::SHN_ABS,
            (Placed::Stub, _) => spec::SHN_UNDEF,
            (_, SymbolKind::Tls) => thread_local,
            _ => sections::holding(&self.sections, export.value),
        };
        let symbols =
            symbols::build(exports, &self.fixups.left, &versions, &mut self.strings, section);
        for (name, kind, (bytes, count)) in [
            (".gnu.version_d", spec::SHT_GNU_VERDEF, versions.defined),
            (".gnu.version_r", spec::SHT_GNU_VERNEED, versions.needed),
        ] {
            self.add(name, kind, 0, 8, bytes);
            if let Some(table) = self.tables.last_mut() {
                table.section.info = count as u32;
            }
        }
        Some(symbols)
    }

    fn symbol_tables(&mut self, symbols: &Symbols) {
        self.add(".gnu.hash", spec::SHT_GNU_HASH, 0, 8, symbols.hash.clone());
        self.add(".dynsym", spec::SHT_DYNSYM, 24, 8, symbols.table.clone());
        self.add(".gnu.version", spec::SHT_GNU_VERSYM, 2, 8, symbols.versions.clone());
        let strings = self.strings.bytes.clone();
        self.add(".dynstr", spec::SHT_STRTAB, 0, 1, strings);
    }

    fn program_tables(&mut self, wanted: &Wanted<'_>) -> Result<(), String> {
        let mut interpreter = self.graph.interpreter.clone().into_os_string().into_encoded_bytes();
        interpreter.push(0);
        self.add(".interp", spec::SHT_PROGBITS, 0, 1, interpreter);
        let note = needs::build_id(self.graph, wanted.fixed);
        self.add(".note.gnu.build-id", spec::SHT_NOTE, 0, 4, note);
        let unwind = unwind::merge(&self.layout.members).map_err(|module| {
            let module = self.graph.modules.get(module);
            let name = module.map_or(String::new(), |module| members::file_name(&module.path));
            format!("{name} has an .eh_frame_hdr of a rare kind; try --outside {name}")
        })?;
        if let Some(unwind) = unwind {
            let address = up(self.address, 8);
            let table = unwind.table(address).ok_or(
                "it spans more than 2 GiB, which tables for exceptions cannot reach; leave \
                 large libraries out with --outside",
            )?;
            debug_assert_eq!(table.len(), unwind.size());
            self.add(".eh_frame_hdr", spec::SHT_PROGBITS, 0, 8, table);
        }
        Ok(())
    }

    fn relocation_tables(&mut self, relocations: &Relocations, fixed: bool) {
        self.add(".rela.dyn", spec::SHT_RELA, 24, 8, relocations.table());
        if !fixed && !relocations.moving.is_empty() {
            self.add(".relr.dyn", spec::SHT_RELR, 8, 8, relocations.packed());
        }
    }
}
