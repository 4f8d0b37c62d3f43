//! The dynamic table, and the section headers of the bundle's own parts.

use crate::plan::Plan;
use crate::plan::own_data::Extent;
use crate::plugins::stays_loaded;
use crate::tables::strings::Strings;
use crate::tables::{RELATIVE_SECTION, Tables};
use image::elf::loadable::Section;
use image::elf::records::{DynamicEntry, Rela, SectionHeader, SymbolEntry};
use image::elf::spec::*;
use model::Va;
use model::text::name;
use std::os::unix::ffi::OsStrExt;

/// Name of the section of the preamble.
pub(crate) const PREAMBLE_SECTION: &str = ".text.headstart";

/// Name of the section of stubs of functions outside.
pub(crate) const STUBS_SECTION: &str = ".plt.headstart";

/// Name of the section of relocations that are done when a function is first called.
pub(crate) const LATE_SECTION: &str = ".rela.plt";

/// Entries whose values are texts: the search path, and the name of a file of plug-ins.
pub(super) fn texts(plan: &Plan<'_>, strings: &mut Strings) -> Vec<(u64, u32)> {
    let search = plan.dependencies.search.iter();
    let mut texts: Vec<(u64, u32)> =
        search.map(|(tag, path)| (*tag, strings.add(name(path).as_bytes()))).collect();
    if !plan.layout.has_program() {
        texts.push((DT_SONAME, strings.add(plan.spec.own_name.as_bytes())));
    }
    texts
}

/// Entries, without the DT_NULL at the end. `needed`: names; `search`: DT_RUNPATH or DT_RPATH, and
/// DT_SONAME of a file of plug-ins.
pub(crate) fn entries(
    plan: &Plan<'_>,
    tables: &Tables,
    needed: &[u32],
    search: &[(u64, u32)],
) -> Vec<DynamicEntry> {
    let own = &plan.own;
    let section = |name| tables.table(name).section.header;
    let at = |name| section(name).address.0;
    let array = |tag, size, array: Extent| [(tag, array.start.0), (size, array.size)];
    let mut all: Vec<(u64, u64)> = needed.iter().map(|&name| (DT_NEEDED, name.into())).collect();
    all.extend(search.iter().map(|&(tag, text)| (tag, u64::from(text))));
    if plan.layout.has_program() {
        all.extend(array(DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ, own.preinit_array));
        all.push((DT_DEBUG, 0));
    }
    all.extend(array(DT_INIT_ARRAY, DT_INIT_ARRAYSZ, own.init_array));
    all.extend(array(DT_FINI_ARRAY, DT_FINI_ARRAYSZ, own.fini_array));
    all.extend([
        (DT_GNU_HASH, at(".gnu.hash")),
        (DT_STRTAB, at(".dynstr")),
        (DT_STRSZ, section(".dynstr").size),
        (DT_SYMTAB, at(".dynsym")),
        (DT_SYMENT, SymbolEntry::SIZE as u64),
        (DT_RELA, at(".rela.dyn")),
        (DT_RELASZ, section(".rela.dyn").size),
        (DT_RELAENT, Rela::SIZE as u64),
        (DT_VERSYM, at(".gnu.version")),
        (DT_VERDEF, at(".gnu.version_d")),
        (DT_VERDEFNUM, section(".gnu.version_d").info.into()),
    ]);
    if let Some(late) = tables.find_table(LATE_SECTION) {
        all.extend([
            (DT_PLTGOT, own.table.start.0),
            (DT_JMPREL, late.address().0),
            (DT_PLTRELSZ, late.section.header.size),
            (DT_PLTREL, DT_RELA),
        ]);
    }
    // Where the preamble fills the table, the loader finds what a start needs before that.
    if !own.filled {
        all.push((DT_FLAGS, DF_BIND_NOW));
    }
    let now = if own.filled { 0 } else { DF_1_NOW };
    let stays = plan.layout.members.iter().any(|member| stays_loaded(member.image));
    all.push((
        DT_FLAGS_1,
        match plan.layout.has_program() {
            false => now | if stays { DF_1_NODELETE } else { 0 },
            true if plan.spec.fixed => now,
            true => now | DF_1_PIE,
        },
    ));
    let needs = section(".gnu.version_r");
    if needs.size > 0 {
        all.push((DT_VERNEED, needs.address.0));
        all.push((DT_VERNEEDNUM, needs.info.into()));
    }
    if tables.relocations.relative_others > 0 {
        all.push((DT_RELACOUNT, tables.relocations.relative_others as u64));
    }
    // Those of a bundle the preamble applies.
    let packed = tables.find_table(RELATIVE_SECTION).filter(|_| !plan.layout.has_program());
    if let Some(packed) = packed {
        all.push((DT_RELR, packed.address().0));
        all.push((DT_RELRSZ, packed.section.header.size));
        all.push((DT_RELRENT, 8));
    }
    all.into_iter().map(|(tag, value)| DynamicEntry { tag, value }).collect()
}

/// Adds the sections of the preamble, the own data and the tables.
pub(crate) fn add_sections(plan: &Plan<'_>, tables: &mut Tables) {
    let dynamic_extent = tables.dynamic_extent(plan);
    let Tables { all, sections, order, .. } = tables;
    let own = &plan.own;
    let section = |name: &str, kind: u32, more: u64, part: Extent, alignment: u64| Section {
        name: name.to_owned(),
        header: SectionHeader {
            kind,
            flags: SHF_ALLOC | more,
            address: Va(part.start.0),
            offset: order.of_own(plan, part.start),
            size: part.size,
            alignment,
            ..SectionHeader::default()
        },
    };
    let reserved = &own.reserved;
    let preamble = reserved.preamble;
    let preamble = Extent { size: reserved.stubs.start - preamble.start, ..preamble };
    sections.push(section(PREAMBLE_SECTION, SHT_PROGBITS, SHF_EXECINSTR, preamble, 16));
    if reserved.stubs.size > 0 {
        sections.push(section(STUBS_SECTION, SHT_PROGBITS, SHF_EXECINSTR, reserved.stubs, 16));
    }
    let tls = &plan.layout.tls;
    if tls.size > 0 {
        let block = Extent { start: reserved.template, size: tls.size };
        sections.push(section(".tdata", SHT_PROGBITS, SHF_WRITE | SHF_TLS, block, tls.alignment));
    }
    let before_dynamic = own.dynamic.start - reserved.slots.start;
    let slots = Extent { size: before_dynamic, ..reserved.slots };
    sections.push(section(".got", SHT_PROGBITS, SHF_WRITE, slots, 8));
    let dynamic = section(".dynamic", SHT_DYNAMIC, SHF_WRITE, dynamic_extent, 8);
    let header = SectionHeader { entry_size: DynamicEntry::SIZE as u64, ..dynamic.header };
    sections.push(Section { header, ..dynamic });
    let data = Extent { size: own.names.end() - own.copies.start, ..own.copies };
    let arrays = [
        (".preinit_array", SHT_PREINIT_ARRAY, own.preinit_array),
        (".init_array.headstart", SHT_PROGBITS, own.library_initializers),
        (".fini_array.headstart", SHT_PROGBITS, own.library_finalizers),
        (".init_array", SHT_INIT_ARRAY, own.init_array),
        (".fini_array", SHT_FINI_ARRAY, own.fini_array),
        (".got.plt", SHT_PROGBITS, own.table),
        (".data.headstart", SHT_PROGBITS, data),
    ];
    for (name, kind, array) in arrays.into_iter().filter(|(_, _, array)| array.size > 0) {
        sections.push(section(name, kind, SHF_WRITE, array, 8));
    }
    sections.extend(all.iter().map(|table| table.section.clone()));
    link(sections);
}

/// Sections name each other by number.
fn link(sections: &mut [Section]) {
    let number = |name: &str| {
        let found = sections.iter().position(|section| section.name == name);
        found.expect("every bundle has this section") as u32
    };
    let (strings, symbols) = (number(".dynstr"), number(".dynsym"));
    for Section { header, .. } in sections {
        match header.kind {
            SHT_DYNSYM => (header.link, header.info) = (strings, 2),
            SHT_DYNAMIC | SHT_GNU_VERDEF | SHT_GNU_VERNEED => header.link = strings,
            SHT_GNU_HASH | SHT_GNU_VERSYM | SHT_RELA => header.link = symbols,
            _ => {}
        }
    }
}
