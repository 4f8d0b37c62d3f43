//! The read-only tables at the end, one after the other: symbols, versions, relocations, what
//! unwinders and the kernel look at; and the headers.

pub(crate) mod debug_symbols;
pub(crate) mod dynamic;
pub(crate) mod headers;
pub(crate) mod relative_words;
pub(crate) mod relocations;
pub(crate) mod sections;
mod strings;
mod symbols;
mod unwind;
mod versions;

use crate::choose::members;
use crate::error::BundleError;
use crate::plan::BundleSpec;
use crate::plan::dependencies::Dependencies;
use crate::plan::exports::{Export, ExportValue};
use crate::plan::fixups::Fixups;
use crate::plan::layout::{Layout, aligned};
use crate::plan::own_data::OwnData;
use crate::write::content::BUILD_ID_NOTE;
use image::elf::loadable::{Section, Version};
use image::elf::records::{Rela, SectionHeader, SymbolEntry};
use image::elf::spec;
use loader::Graph;
use model::text::name as name_of;
use model::{BundleVa, FileOffset, SymbolIndex, Va};
use relocations::Relocations;
use std::os::unix::ffi::OsStrExt;
use strings::Strings;
use symbols::Symbols;
use versions::Versions;

/// Name of the version that the loader must know where there are packed relocations.
const PACKED_VERSION: &str = "GLIBC_ABI_DT_RELR";
/// Section with the build-id.
pub(crate) const BUILD_ID: &str = ".note.gnu.build-id";
const C_LIBRARY: &str = "libc.so.6";
const TOO_LARGE: &str = "it spans more than 2 GiB, which tables for exceptions cannot reach; leave \
                         large libraries out with --outside";

/// A table and its section.
pub(crate) struct Table {
    pub(crate) section: Section,
    pub(crate) bytes: Vec<u8>,
}

impl Table {
    /// Its address.
    pub(crate) fn address(&self) -> BundleVa {
        BundleVa(self.section.header.address.0)
    }
}

/// What the tables are made of.
pub(crate) struct Contents<'m, 'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) spec: &'m BundleSpec<'m>,
    pub(crate) layout: &'m Layout<'a>,
    pub(crate) fixups: &'m Fixups<'a>,
    pub(crate) exports: &'m [Export<'a>],
    pub(crate) dependencies: &'m Dependencies,
    /// Names for the loader.
    pub(crate) names: &'m [Vec<u8>],
}

/// All tables, and what the dynamic table and the section headers say besides.
pub(crate) struct ReadOnly {
    pub(crate) tables: Vec<Table>,
    /// Sections of the modules.
    pub(crate) sections: Vec<Section>,
    pub(crate) relocations: Relocations,
    /// Libraries that are needed, as strings.
    pub(crate) needed: Vec<u32>,
    /// DT_RPATH or DT_RUNPATH, and its string.
    pub(crate) search: Option<(u64, u32)>,
}

impl Contents<'_, '_> {
    /// Builds all tables behind the bundle's own data, which is told the addresses of the names for
    /// the loader.
    pub(crate) fn build(&self, own: &mut OwnData) -> Result<ReadOnly, BundleError> {
        let offset = self.layout.offset_behind(own.end);
        let mut tables = Tables { address: own.end, offset, all: Vec::new() };
        let sections = sections::of_members(self.layout);
        let mut strings = Strings::new();
        let versions = self.versions(&mut strings).ok_or_else(|| {
            let reason = "its libraries have more versions than one file can number";
            self.spec.declined(reason.to_owned())
        })?;
        let symbols = self.symbols(&sections, &versions, &mut strings);
        for (name, kind, (bytes, count)) in [
            (".gnu.version_d", spec::SHT_GNU_VERDEF, versions.defined),
            (".gnu.version_r", spec::SHT_GNU_VERNEED, versions.needed),
        ] {
            tables.add(name, kind, 0, 8, bytes).section.header.info = count as u32;
        }
        let names = self.dependencies.names.iter();
        let needed = names.map(|name| strings.add(name_of(name).as_bytes())).collect();
        let search = self.dependencies.search.as_ref();
        let search = search.map(|(tag, path)| (*tag, strings.add(name_of(path).as_bytes())));
        tables.add(".gnu.hash", spec::SHT_GNU_HASH, 0, 8, symbols.hash);
        tables.add(".dynsym", spec::SHT_DYNSYM, SymbolEntry::SIZE, 8, symbols.table);
        tables.add(".gnu.version", spec::SHT_GNU_VERSYM, 2, 8, symbols.versions);
        tables.add(".dynstr", spec::SHT_STRTAB, 0, 1, strings.bytes);
        own.set_names(&tables.add_names(self.names));
        let interpreter = self.graph.interpreter.as_os_str().as_bytes();
        tables.add(".interp", spec::SHT_PROGBITS, 0, 1, [interpreter, b"\0"].concat());
        tables.add(BUILD_ID, spec::SHT_NOTE, 0, 4, vec![0; BUILD_ID_NOTE]);
        self.add_unwind(&mut tables).map_err(|reason| self.spec.declined(reason))?;
        let relocations = self.relocations(own, &symbols.of_exports);
        tables.add(".rela.dyn", spec::SHT_RELA, Rela::SIZE, 8, relocations.table());
        if !self.spec.fixed && !relocations.relative.is_empty() {
            tables.add(".relr.dyn", spec::SHT_RELR, 8, 8, relocations.packed());
        }
        Ok(ReadOnly { tables: tables.all, sections, relocations, needed, search })
    }

    fn versions(&self, strings: &mut Strings) -> Option<Versions> {
        let merged = self.layout.members.iter().flat_map(|member| member.image.versions());
        let merged = merged.filter(|version: &&Version| version.library.is_none());
        let merged = merged.map(|version| version.name.as_slice());
        let references = self.fixups.references.all.iter().map(|(reference, ..)| reference);
        let own = self.spec.own_name.to_string_lossy();
        // The loader does not ask for it, nor would it be found, where there is no C library.
        let has_c = self.graph.modules.iter().any(|module| members::name_of(module) == C_LIBRARY);
        let required = (!self.spec.fixed && has_c).then_some((C_LIBRARY, PACKED_VERSION));
        Versions::new(merged, &own, required, self.exports, references, strings)
    }

    fn symbols(&self, sections: &[Section], versions: &Versions, strings: &mut Strings) -> Symbols {
        // Behind the modules come the preamble and the initial thread-local storage.
        let thread_local = sections.len() as u16 + 1;
        let section = |export: &Export<'_>| match export.value {
            ExportValue::Absolute(_) => spec::SHN_ABS,
            ExportValue::Stub(_) => spec::SHN_UNDEF,
            ExportValue::ThreadLocal(_) => thread_local,
            ExportValue::Address(address) => sections::holding(sections, address),
        };
        symbols::build(self.exports, &self.fixups.references, versions, strings, section)
    }

    fn add_unwind(&self, tables: &mut Tables) -> Result<(), String> {
        let unwind = unwind::merge(&self.layout.members).map_err(|module| {
            let name = members::file_name(&module.path);
            format!("{name} has an .eh_frame_hdr of a rare kind; try --outside {name}")
        })?;
        if let Some(unwind) = unwind {
            let table = unwind.table(aligned(tables.address, 8)).ok_or(TOO_LARGE)?;
            tables.add(".eh_frame_hdr", spec::SHT_PROGBITS, 0, 8, table);
        }
        Ok(())
    }

    /// `of_exports`: symbol of each export.
    fn relocations(&self, own: &OwnData, of_exports: &[SymbolIndex]) -> Relocations {
        let copies = self.fixups.copied_by_loader.iter().filter_map(|copy| {
            let export = self.exports.iter().position(|export| export.source == copy.symbol)?;
            Some((of_exports[export], copy.to))
        });
        let all = self.fixups.all.iter().chain(&own.fixups).copied();
        Relocations::new(all, copies, self.spec.fixed)
    }
}

/// The tables so far.
struct Tables {
    /// Address and offset behind them.
    address: BundleVa,
    offset: FileOffset,
    all: Vec<Table>,
}

impl Tables {
    /// `entry`: size of an entry, if it is a table of them.
    fn add(
        &mut self,
        name: &str,
        kind: u32,
        entry: usize,
        alignment: u64,
        bytes: Vec<u8>,
    ) -> &mut Table {
        let address = aligned(self.address, alignment);
        let offset = self.offset + (address - self.address);
        let header = SectionHeader {
            kind,
            flags: spec::SHF_ALLOC,
            address: Va(address.0),
            offset,
            size: bytes.len() as u64,
            alignment,
            entry_size: entry as u64,
            ..SectionHeader::default()
        };
        self.address = address + header.size;
        self.offset = offset + header.size;
        self.all.push_mut(Table { section: Section { name: name.to_owned(), header }, bytes })
    }

    /// Names for the loader have a section of their own, as patchelf moves the others' strings.
    fn add_names(&mut self, names: &[Vec<u8>]) -> Vec<BundleVa> {
        if names.is_empty() {
            return Vec::new();
        }
        let mut strings = Strings::new();
        let names: Vec<u32> = names.iter().map(|name| strings.add(name)).collect();
        let table = self.add(".rodata.headstart", spec::SHT_PROGBITS, 0, 1, strings.bytes);
        names.into_iter().map(|name| table.address() + u64::from(name)).collect()
    }
}
