//! The read-only tables at the end, one after the other: symbols, versions, relocations, what
//! unwinders and the kernel look at.

pub(crate) mod debug_symbols;
pub(crate) mod dynamic;
pub(crate) mod headers;
pub(crate) mod moved;
pub(crate) mod relocations;
pub(crate) mod sections;
mod strings;
pub(crate) mod symbols;
mod unwind;
mod versions;

use crate::choose::members;
use crate::error::BundleError;
use crate::plan::Wanted;
use crate::plan::dependencies::Needs;
use crate::plan::exports::{Export, Placed};
use crate::plan::fixups::Fixups;
use crate::plan::layout::{Layout, up};
use crate::tables::relocations::{RELA, Relocations};
use crate::tables::sections::Section;
use crate::tables::strings::Strings;
use crate::tables::symbols::{SYMBOL, Symbols};
use crate::tables::versions::Versions;
use crate::write::content::BUILD_ID_NOTE;
use image::elf::loadable::{SymbolKind, Version};
use image::elf::spec;
use loader::Graph;
use model::text::name as name_of;
use std::os::unix::ffi::OsStrExt;

/// Name of the version that the loader must know where there are packed relocations.
const PACKED_VERSION: &str = "GLIBC_ABI_DT_RELR";
/// Section with the build-id.
pub(crate) const BUILD_ID: &str = ".note.gnu.build-id";
const C_LIBRARY: &str = "libc.so.6";

/// A table and its section.
pub(crate) struct Table {
    pub(crate) section: Section,
    pub(crate) bytes: Vec<u8>,
}

/// The tables so far.
pub(crate) struct ReadOnly<'m, 'a> {
    graph: &'a Graph,
    layout: &'m Layout<'a>,
    fixups: &'m Fixups<'a>,
    strings: Strings,
    address: u64,
    offset: u64,
    /// Sections of the modules.
    pub(crate) sections: Vec<Section>,
    pub(crate) tables: Vec<Table>,
    /// Index of each export in the table of symbols.
    pub(crate) of_exports: Vec<u32>,
    /// Libraries that are needed, as strings.
    pub(crate) needed: Vec<u32>,
    /// DT_RPATH or DT_RUNPATH, and its string.
    pub(crate) search: Option<(u64, u32)>,
    /// Addresses of the names for the loader.
    pub(crate) names: Vec<u64>,
}

impl<'m, 'a> ReadOnly<'m, 'a> {
    /// None yet; they begin at `address`.
    pub(crate) fn new(
        graph: &'a Graph,
        layout: &'m Layout<'a>,
        fixups: &'m Fixups<'a>,
        address: u64,
    ) -> Self {
        ReadOnly {
            graph,
            layout,
            fixups,
            strings: Strings::new(),
            address,
            offset: layout.file_end + (address - layout.end),
            sections: sections::of_members(graph, layout),
            tables: Vec::new(),
            of_exports: Vec::new(),
            needed: Vec::new(),
            search: None,
            names: Vec::new(),
        }
    }

    /// Adds symbols, their versions, their hash table, and all strings of the dynamic table.
    pub(crate) fn with_symbols(
        mut self,
        exports: &[Export<'a>],
        wanted: &Wanted<'_>,
        needs: &Needs,
        names: &[Vec<u8>],
    ) -> Result<Self, BundleError> {
        let versions = self.versions(exports, wanted).ok_or_else(|| BundleError::Declined {
            program: wanted.program.display().to_string(),
            reason: "its libraries have more versions than one file can number".to_owned(),
        })?;
        let symbols = self.symbols(exports, &versions);
        for (name, kind, (bytes, count)) in [
            (".gnu.version_d", spec::SHT_GNU_VERDEF, versions.defined),
            (".gnu.version_r", spec::SHT_GNU_VERNEED, versions.needed),
        ] {
            self.add(name, kind, 0, 8, bytes);
            if let Some(table) = self.tables.last_mut() {
                table.section.info = count as u32;
            }
        }
        self.needed =
            needs.names.iter().map(|name| self.strings.add(name_of(name).as_bytes())).collect();
        let search = needs.search.as_ref();
        self.search = search.map(|(tag, path)| (*tag, self.strings.add(name_of(path).as_bytes())));
        self.add(".gnu.hash", spec::SHT_GNU_HASH, 0, 8, symbols.hash);
        self.add(".dynsym", spec::SHT_DYNSYM, SYMBOL as u64, 8, symbols.table);
        self.add(".gnu.version", spec::SHT_GNU_VERSYM, 2, 8, symbols.versions);
        let strings = std::mem::replace(&mut self.strings, Strings::new());
        self.add(".dynstr", spec::SHT_STRTAB, 0, 1, strings.bytes);
        self.add_names(names);
        self.of_exports = symbols.of_exports;
        Ok(self)
    }

    /// Names for the loader have a section of their own, as patchelf moves the others' strings.
    fn add_names(&mut self, names: &[Vec<u8>]) {
        if names.is_empty() {
            return;
        }
        let mut strings = Strings::new();
        let names: Vec<u32> = names.iter().map(|name| strings.add(name)).collect();
        let at = self.add(".rodata.headstart", spec::SHT_PROGBITS, 0, 1, strings.bytes);
        self.names = names.into_iter().map(|name| at + u64::from(name)).collect();
    }

    /// Adds the loader's name, room for the build-id, and the table for unwinding.
    pub(crate) fn add_program_tables(&mut self) -> Result<(), String> {
        let mut interpreter = self.graph.interpreter.clone().into_os_string().into_encoded_bytes();
        interpreter.push(0);
        self.add(".interp", spec::SHT_PROGBITS, 0, 1, interpreter);
        self.add(BUILD_ID, spec::SHT_NOTE, 0, 4, vec![0; BUILD_ID_NOTE]);
        let unwind = unwind::merge(&self.layout.members).map_err(|module| {
            let module = self.graph.modules.get(module);
            let name = module.map_or(String::new(), |module| members::file_name(&module.path));
            format!("{name} has an .eh_frame_hdr of a rare kind; try --outside {name}")
        })?;
        if let Some(unwind) = unwind {
            let table = unwind.table(up(self.address, 8)).ok_or(
                "it spans more than 2 GiB, which tables for exceptions cannot reach; leave large \
                 libraries out with --outside",
            )?;
            self.add(".eh_frame_hdr", spec::SHT_PROGBITS, 0, 8, table);
        }
        Ok(())
    }

    /// Adds what the loader relocates.
    pub(crate) fn add_relocations(&mut self, relocations: &Relocations, fixed: bool) {
        self.add(".rela.dyn", spec::SHT_RELA, RELA as u64, 8, relocations.table());
        if !fixed && !relocations.moving.is_empty() {
            self.add(".relr.dyn", spec::SHT_RELR, 8, 8, relocations.packed());
        }
    }

    fn versions(&mut self, exports: &[Export<'a>], wanted: &Wanted<'_>) -> Option<Versions> {
        let merged = self.layout.members.iter().flat_map(|member| member.image.versions());
        let merged = merged.filter(|version: &&Version| version.library.is_none());
        let merged = merged.map(|version| version.name.as_slice());
        let left = self.fixups.left.references.iter().map(|(reference, ..)| reference);
        let own = wanted.own_name.to_string_lossy();
        // The loader does not ask for it, nor would it be found, where there is no C library.
        let has_c = self.graph.modules.iter().any(|module| members::name_of(module) == C_LIBRARY);
        let required = (!wanted.fixed && has_c).then_some((C_LIBRARY, PACKED_VERSION));
        Versions::new(merged, &own, required, exports, left, &mut self.strings)
    }

    fn symbols(&mut self, exports: &[Export<'a>], versions: &Versions) -> Symbols {
        // Behind the modules come the preamble and the initial thread-local storage.
        let thread_local = self.sections.len() as u16 + 1;
        let section = |export: &Export<'_>| match (export.placed, export.kind) {
            (Placed::Absolute, _) => spec::SHN_ABS,
            (Placed::Stub, _) => spec::SHN_UNDEF,
            (_, SymbolKind::Tls) => thread_local,
            _ => sections::holding(&self.sections, export.value),
        };
        symbols::build(exports, &self.fixups.left, versions, &mut self.strings, section)
    }

    /// Adds a table, and gives its address.
    fn add(&mut self, name: &str, kind: u32, entry: u64, alignment: u64, bytes: Vec<u8>) -> u64 {
        let address = up(self.address, alignment);
        self.offset += address - self.address;
        let size = bytes.len() as u64;
        let section = Section {
            name: name.to_owned(),
            kind,
            flags: spec::SHF_ALLOC,
            address,
            offset: self.offset,
            size,
            alignment,
            entry,
            ..Section::default()
        };
        self.address = address + size;
        self.offset += size;
        self.tables.push(Table { section, bytes });
        address
    }
}
