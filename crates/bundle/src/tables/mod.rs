//! The read-only tables at the end, one after the other: symbols, versions, relocations, what
//! unwinders and the kernel look at; and the headers.

pub(crate) mod ahead;
pub(crate) mod debug_symbols;
pub(crate) mod dynamic;
mod gaps;
pub(crate) mod headers;
mod joined;
mod placed;
pub(crate) mod populate;
pub(crate) mod relative_words;
pub(crate) mod relocations;
pub(crate) mod sections;
mod strings;
mod symbols;
mod unwind;
mod versions;
pub(crate) mod written;

use crate::choose::members;
use crate::error::{BundleAdvice, BundleError, DeclineReason};
use crate::plan::Plan;
use crate::plan::bases::too_large;
use crate::plan::exports::{Export, ExportValue};
use crate::plan::file_order::FileOrder;
use crate::plan::fixups::Fixup;
use crate::plan::layout::aligned;
use crate::plan::own_data::Extent;
use image::elf::loadable::{Section, Version};
use image::elf::records::{DynamicEntry, Rela, SymbolEntry, symbol_info};
use image::elf::spec;
use model::bundle::{BundlePopulate, BundleReadAhead};
use model::text::name as name_of;
use model::{BundleVa, SymbolIndex};
use placed::Placed;
use relocations::Relocations;
use startup::WrittenPages;
use std::os::unix::ffi::OsStrExt;
use strings::Strings;
use symbols::Symbols;
use unwind::StubFrames;
use versions::Versions;

/// Name of the version that the loader must know where there are packed relocations.
const PACKED_VERSION: &str = "GLIBC_ABI_DT_RELR";
/// Section with the build-id.
pub(crate) const BUILD_ID: &str = ".note.gnu.build-id";
/// Size of a build-id in bytes, and of the note with it.
pub(crate) const BUILD_ID_BYTES: usize = 20;
pub(crate) const BUILD_ID_NOTE: usize = 16 + BUILD_ID_BYTES;
/// Name of the local symbol.
const LOCAL_SYMBOL: &str = "headstart_early";
/// Section of packed relocations, which the preamble applies.
pub(crate) const RELATIVE_SECTION: &str = ".relr.dyn";

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

/// All tables that a bundle's own data is followed by, and what is said of all of its parts.
pub(crate) struct Tables {
    pub(crate) all: Vec<Table>,
    /// Entries of the dynamic table, without the DT_NULL at its end.
    pub(crate) dynamic: Vec<DynamicEntry>,
    pub(crate) sections: Vec<Section>,
    pub(crate) order: FileOrder,
    pub(crate) relocations: Relocations,
    /// How many ranges of pages are copied before that, and how many of them are large pages.
    pub(crate) written_counts: (u64, u64),
    /// How many ranges that a recorded launch used are read, and how many are written to.
    pub(crate) recorded_counts: (u64, u64),
    /// The chain of names for the loader, in the bundle's own data.
    pub(crate) chain: Vec<Fixup>,
    /// What is read ahead, in figures.
    pub(crate) read_ahead: Option<BundleReadAhead>,
    /// What is mapped at once, and how much that is.
    pub(crate) populate: Option<BundlePopulate>,
}

impl Tables {
    /// The table with a section of this name, which every bundle has.
    pub(crate) fn table(&self, name: &str) -> &Table {
        self.find_table(name).expect("every bundle has this table")
    }

    /// The table with a section of this name.
    pub(crate) fn find_table(&self, name: &str) -> Option<&Table> {
        self.all.iter().find(|table| table.section.name == name)
    }

    /// The dynamic table, with the DT_NULL at its end.
    pub(crate) fn dynamic_extent(&self, plan: &Plan<'_>) -> Extent {
        let size = DynamicEntry::SIZE * (self.dynamic.len() + 1);
        Extent { size: size as u64, ..plan.own.dynamic }
    }

    /// Where the tables, and all that is loaded, end.
    pub(crate) fn end(&self) -> BundleVa {
        let last = &self.all[self.all.len() - 1];
        last.address() + last.section.header.size
    }

    /// Sets the build-id, once the files' contents are known: the whole note.
    pub(crate) fn set_build_id(&mut self, note: Vec<u8>) {
        let table = self.all.iter_mut().find(|table| table.section.name == BUILD_ID);
        let table = table.expect("every bundle has this table");
        assert_eq!(table.bytes.len(), note.len(), "there is room for just this note");
        table.bytes = note;
    }
}

/// Makes all tables.
pub(crate) fn of(plan: &Plan<'_>) -> Result<Tables, BundleError> {
    let mut order = FileOrder::new(&plan.layout, &plan.own);
    let mut tables = Placed { address: plan.own.end, offset: order.tables(), all: Vec::new() };
    // Their addresses are final, their offsets are not.
    let sections = sections::of_members(&plan.layout, &order);
    let mut strings = Strings::new();
    let names = plan.dependencies.names.iter();
    let needed: Vec<u32> = names.map(|name| strings.add(name_of(name).as_bytes())).collect();
    let search = dynamic::texts(plan, &mut strings);
    let versions = versions(plan, &mut strings).ok_or_else(|| {
        let reason = "its libraries have more versions than one file can number";
        plan.spec.declined(reason)
    })?;
    let symbols = symbols(plan, &sections, &versions, &mut strings);
    // First what the loader reads of every bundle: where it is not in memory, the kernel reads it at once.
    for (name, kind, (bytes, count)) in [
        (".gnu.version_r", spec::SHT_GNU_VERNEED, versions.needed),
        (".gnu.version_d", spec::SHT_GNU_VERDEF, versions.defined),
    ] {
        tables.add(name, kind, 0, 8, bytes).section.header.info = count as u32;
    }
    let chain = plan.own.chain(&tables.add_names(&plan.names), plan.own_names);
    tables.add(BUILD_ID, spec::SHT_NOTE, 0, 4, vec![0; BUILD_ID_NOTE]);
    let relocations = relocations(plan, &chain, &symbols.of_exports);
    add_read_early(plan, &order, &mut tables, (&relocations, symbols));
    let written = written::pages(plan, &relocations);
    if written != WrittenPages::default() {
        tables.add(written::SECTION, spec::SHT_PROGBITS, 0, 8, written.bytes());
    }
    if plan.spec.populate.is_some() {
        tables.add(populate::SECTION, spec::SHT_PROGBITS, 0, 8, vec![0; populate::BYTES]);
    }
    if !plan.spec.fixed && !relocations.relative.is_empty() {
        tables.add(RELATIVE_SECTION, spec::SHT_RELR, 8, 8, relocations.packed());
    }
    tables.add_interpreter(plan);
    tables.add(".dynstr", spec::SHT_STRTAB, 0, 1, strings.bytes);
    add_unwind(plan, &mut tables).map_err(|reason| plan.spec.declined(reason))?;
    order.place_modules(&plan.layout, tables.offset);
    let read_ahead = plan.spec.read_ahead;
    let read_ahead = read_ahead.map(|read_ahead| tables.fill_list(plan, &order, read_ahead));
    let populated = plan.spec.populate;
    let populated =
        populated.map(|it| tables.fill_recorded((plan, &order), it, (&written, &relocations)));
    let (recorded_counts, populate) = populated.unzip();
    let recorded_counts = recorded_counts.unwrap_or_default();
    let (all, sections) = (tables.all, sections::of_members(&plan.layout, &order));
    let dynamic = Vec::new();
    let written_counts = written.counts();
    let mut tables = Tables {
        all,
        dynamic,
        sections,
        order,
        relocations,
        written_counts,
        recorded_counts,
        chain,
        read_ahead,
        populate,
    };
    tables.dynamic = dynamic::entries(plan, &tables, &needed, &search);
    dynamic::add_sections(plan, &mut tables);
    Ok(tables)
}

/// Tables of which the loader reads the beginnings: of the hash table first, of the others when it relocates, and
/// symbols, which are the largest table, come last.
fn add_read_early(
    plan: &Plan<'_>,
    order: &FileOrder,
    tables: &mut Placed,
    (relocations, symbols): (&Relocations, Symbols),
) {
    let list = plan.spec.read_ahead.map(|_| vec![0; ahead::LIST_BYTES]);
    let late = relocations::late(plan);
    let late = if late.is_empty() { None } else { Some(late) };
    let read_early = [
        (".gnu.hash", spec::SHT_GNU_HASH, 0, Some(symbols.hash), 1),
        (".rela.dyn", spec::SHT_RELA, Rela::SIZE, Some(relocations.table()), 1),
        (dynamic::LATE_SECTION, spec::SHT_RELA, Rela::SIZE, late, 1),
        (ahead::LIST_SECTION, spec::SHT_PROGBITS, 0, list, ahead::LIST_PAGES_OF_MOST),
        (".gnu.version", spec::SHT_GNU_VERSYM, 2, Some(symbols.versions), 1),
        (".dynsym", spec::SHT_DYNSYM, SymbolEntry::SIZE, Some(symbols.table), 1),
    ];
    for (name, kind, entry, bytes, pages) in read_early {
        if let Some(bytes) = bytes {
            tables.begin_at(order.beginning(tables.offset, pages));
            tables.add(name, kind, entry, 8, bytes);
        }
    }
}

fn versions(plan: &Plan<'_>, strings: &mut Strings) -> Option<Versions> {
    let merged = plan.layout.members.iter().flat_map(|member| member.image.versions());
    let merged = merged.filter(|version: &&Version| version.library.is_none());
    let merged = merged.map(|version| version.name.as_slice());
    let references = plan.fixups.references.all.iter().map(|(reference, ..)| reference);
    let own = plan.spec.own_name.to_string_lossy();
    // The loader does not ask for it, nor would it be found, where there is no C library.
    let has_c =
        plan.graph.modules.iter().any(|module| members::name_of(module) == members::C_LIBRARY);
    let required = (!plan.spec.fixed && has_c).then_some((members::C_LIBRARY, PACKED_VERSION));
    let strings = (&plan.dependencies.by_own_name, strings);
    Versions::new(merged, &own, required, &plan.exports, references, strings)
}

fn symbols(
    plan: &Plan<'_>,
    sections: &[Section],
    versions: &Versions,
    strings: &mut Strings,
) -> Symbols {
    // Behind the modules come the preamble and the initial thread-local storage.
    let thread_local = sections.len() as u16 + 1;
    let section = |export: &Export<'_>| match export.value {
        ExportValue::Absolute(_) => spec::SHN_ABS,
        ExportValue::Stub(_) => spec::SHN_UNDEF,
        ExportValue::ThreadLocal(_) => thread_local,
        ExportValue::Address(address) => sections::holding(sections, address),
    };
    let local = local_symbol(plan, strings.add(LOCAL_SYMBOL.as_bytes()), thread_local - 1);
    symbols::build(&plan.exports, &plan.fixups.references, versions, strings, local, section)
}

/// The code that relocates the bundle, which the first relocation has the loader call.
fn local_symbol(plan: &Plan<'_>, name: u32, section: u16) -> SymbolEntry {
    let kind = if plan.starts_early() { spec::STT_GNU_IFUNC } else { spec::STT_FUNC };
    SymbolEntry {
        name,
        info: symbol_info(spec::STB_LOCAL, kind),
        visibility: spec::STV_DEFAULT,
        section,
        value: plan.layout.preamble().0 + startup::early(),
        size: 0,
    }
}

fn add_unwind(plan: &Plan<'_>, tables: &mut Placed) -> Result<(), DeclineReason> {
    let stubs = plan.own.reserved.stubs;
    let mut frames = None;
    if stubs.size > 0 {
        let address = aligned(tables.address, 8);
        let of_stubs = StubFrames::new(address, stubs).ok_or_else(too_large)?;
        tables.add(".eh_frame", spec::SHT_PROGBITS, 0, 8, of_stubs.bytes.clone());
        frames = Some(of_stubs);
    }
    let unwind = unwind::merge(&plan.layout.members, frames).map_err(|module| {
        let name = members::file_name(&module.path);
        let reason = format!("{name} has an .eh_frame_hdr of a rare kind");
        DeclineReason::from(reason).with(BundleAdvice::KeepOutside(name))
    })?;
    if let Some(unwind) = unwind {
        let table = unwind.table(aligned(tables.address, 8)).ok_or_else(too_large)?;
        tables.add(".eh_frame_hdr", spec::SHT_PROGBITS, 0, 8, table);
    }
    Ok(())
}

/// `of_exports`: symbol of each export.
fn relocations(plan: &Plan<'_>, chain: &[Fixup], of_exports: &[SymbolIndex]) -> Relocations {
    let copies = plan.fixups.copied_by_loader.iter().filter_map(|copy| {
        let export = plan.exports.iter().position(|export| export.source == copy.symbol)?;
        Some((of_exports[export], copy.to))
    });
    let start = plan.own.copies.start;
    let more = plan.outside.copies.iter().filter_map(|copy| {
        let export = plan.exports.iter().position(|export| export.source == copy.definition)?;
        Some((of_exports[export], start + copy.offset))
    });
    let copies = copies.chain(more);
    let all = plan.fixups.all.iter().chain(&plan.own.fixups).chain(chain).copied();
    let mut relocations = Relocations::new(all, copies, plan.spec.fixed);
    if plan.starts_early() {
        relocations.begin_with(SymbolIndex(1), plan.own.finish);
    }
    relocations
}
