//! Relocations counted by what they ask of a loader.

use super::counts::{Counts, Layout};
use super::read::Elf;
use super::relocation_types::{self, Class};
use super::scan::Scan;
use crate::notes::{Budget, Notes};
use object::elf;
use object::read::elf::{FileHeader, SectionHeader};
use std::collections::BTreeMap;

/// Everything about an image's relocations; fields as in [`model::ElfFacts`].
#[derive(Default)]
pub(super) struct Relocations {
    pub(super) by_type: BTreeMap<String, u64>,
    pub(super) link_time: u64,
    pub(super) relative: u64,
    pub(super) symbolic: u64,
    pub(super) plt: u64,
    pub(super) irelative: u64,
    pub(super) copy: u64,
    pub(super) tls: u64,
    pub(super) table_bytes: u64,
    pub(super) pages: u64,
    /// The same pages, by number and in order.
    pub(super) written: Vec<u64>,
    /// One more than the largest symbol index: a lower bound of the number of dynamic symbols.
    pub(super) symbols_at_least: u64,
}

/// How the entries of a table look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Rel,
    Rela,
    Relr,
}

/// One relocation table.
struct Table<'a> {
    form: Form,
    bytes: &'a [u8],
    /// The loader (or a static program's own start code) applies it; others are left over for
    /// the linker, as in object files and after `--emit-relocs`.
    applied: bool,
}

/// Reads every relocation table of the image.
pub(super) fn read<H: FileHeader>(file: &Elf<'_, H>, notes: &mut Notes) -> Relocations {
    let mut tables = from_sections(file, notes);
    if tables.is_empty() {
        tables = from_dynamic(file, notes);
    }
    let mut budget = Budget::of_file(file.bytes);
    tables.retain(|table| budget.take(table.bytes, "relocations", notes));

    let mut applied = Counts::new(Layout::of(file));
    let mut left_over = Counts::new(Layout::of(file));
    for table in &tables {
        let counts = if table.applied { &mut applied } else { &mut left_over };
        let scan = |entry_bytes| Scan {
            table: table.bytes,
            source: file.source.map(|source| (source, file.offset_of(table.bytes))),
            entry_bytes,
        };
        match table.form {
            Form::Rel => counts.add_rel::<H>(scan(size_of::<H::Rel>())),
            Form::Rela => counts.add_rela::<H>(scan(size_of::<H::Rela>())),
            Form::Relr => counts.add_relr::<H>(table.bytes),
        }
    }
    if applied.overflowed() || left_over.overflowed() {
        notes
            .problem("relocations: thousands of unknown types, the last counted as one".to_owned());
    }
    let mut relocations = Relocations {
        table_bytes: tables.iter().map(|table| table.bytes.len() as u64).sum(),
        pages: applied.pages.count(),
        symbols_at_least: applied.symbols_at_least,
        link_time: left_over.total(),
        relative: applied.relr,
        ..Relocations::default()
    };
    relocations.classify(file, &applied);
    relocations.name(file, &applied);
    relocations.name(file, &left_over);
    relocations.written = applied.pages.sorted();
    relocations
}

/// The 4 KiB pages that a loader's relocations write to, by number and in order.
pub(crate) fn written_pages<H: FileHeader>(file: &Elf<'_, H>) -> Vec<u64> {
    read(file, &mut Notes::new(file.bytes.len())).written
}

/// As readelf finds them: all sections of the three types.
fn from_sections<'a, H: FileHeader>(file: &Elf<'a, H>, notes: &mut Notes) -> Vec<Table<'a>> {
    let linked = file.header.e_type(file.endian) != elf::ET_REL;
    let mut tables = Vec::new();
    for section in file.sections {
        let form = match section.sh_type(file.endian) {
            elf::SHT_REL => Form::Rel,
            elf::SHT_RELA => Form::Rela,
            elf::SHT_RELR => Form::Relr,
            _ => continue,
        };
        let allocated = section.sh_flags(file.endian).contains(elf::SHF_ALLOC);
        let bytes = file.section_bytes(section, "relocation section", notes);
        tables.push(Table { form, bytes, applied: linked && allocated });
    }
    tables
}

/// As a loader finds them, for images without section headers.
fn from_dynamic<'a, H: FileHeader>(file: &Elf<'a, H>, notes: &mut Notes) -> Vec<Table<'a>> {
    let dynamic = &file.dynamic;
    let plt_form = match dynamic.get(elf::DT_PLTREL) {
        Some(tag) if tag == elf::DT_RELA.0 as u64 => Form::Rela,
        _ => Form::Rel,
    };
    let rela = dynamic.range(elf::DT_RELA, elf::DT_RELASZ);
    let rel = dynamic.range(elf::DT_REL, elf::DT_RELSZ);
    let plt = dynamic.range(elf::DT_JMPREL, elf::DT_PLTRELSZ);
    // Some linkers count the PLT's table as the end of the other one.
    let plt = plt.filter(|&plt| !holds(rela, plt) && !holds(rel, plt));
    let found = [
        (Form::Rela, rela, "DT_RELA"),
        (Form::Rel, rel, "DT_REL"),
        (Form::Relr, dynamic.range(elf::DT_RELR, elf::DT_RELRSZ), "DT_RELR"),
        (plt_form, plt, "DT_JMPREL"),
    ];
    let mut tables = Vec::new();
    for (form, range, what) in found {
        let Some((address, size)) = range else { continue };
        let bytes = file.at_address(address, size, what, notes);
        tables.push(Table { form, bytes, applied: true });
    }
    tables
}

fn holds(outer: Option<(u64, u64)>, inner: (u64, u64)) -> bool {
    outer.is_some_and(|outer| {
        inner.0 >= outer.0 && inner.0.saturating_add(inner.1) <= outer.0.saturating_add(outer.1)
    })
}

impl Relocations {
    fn classify<H: FileHeader>(&mut self, file: &Elf<'_, H>, applied: &Counts) {
        let machine = file.header.e_machine(file.endian);
        for (kind, count) in applied.by_type() {
            let class = relocation_types::class(machine, kind);
            let without_symbol = count.all - count.with_symbol;
            match class {
                Class::None => continue,
                Class::Relative => self.relative += count.all,
                Class::RelativeOrSymbol => self.relative += without_symbol,
                Class::Irelative => self.irelative += count.all,
                Class::Copy => self.copy += count.all,
                Class::Plt => self.plt += count.with_symbol,
                Class::Tls => self.tls += count.all,
                Class::Symbol => {}
            }
            if !matches!(class, Class::Relative | Class::Irelative) {
                self.symbolic += count.with_symbol;
            }
        }
    }

    fn name<H: FileHeader>(&mut self, file: &Elf<'_, H>, counts: &Counts) {
        let machine = file.header.e_machine(file.endian);
        for (kind, count) in counts.by_type() {
            *self.by_type.entry(relocation_types::name(machine, kind)).or_default() += count.all;
        }
        if counts.relr > 0 {
            *self.by_type.entry("RELR".to_owned()).or_default() += counts.relr;
        }
    }
}

/// Whether the image uses RELR.
pub(super) fn uses_relr<H: FileHeader>(file: &Elf<'_, H>) -> bool {
    // A static program's start code finds the table by a linker symbol, not by DT_RELR.
    let section = || file.sections.iter().any(|s| s.sh_type(file.endian) == elf::SHT_RELR);
    file.dynamic.has(elf::DT_RELR) || section()
}
