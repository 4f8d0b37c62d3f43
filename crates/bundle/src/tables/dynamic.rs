//! The dynamic table, and the section headers of the bundle's own parts.

use crate::plan::Plan;
use crate::tables::relocations::RELA;
use crate::tables::sections::Section;
use image::elf::spec::*;

/// Name of the section of the preamble.
pub(crate) const PREAMBLE_SECTION: &str = ".text.headstart";

/// Entries, without the DT_NULL at the end. `needed`: names; `search`: DT_RUNPATH or DT_RPATH.
pub(crate) fn entries(
    plan: &Plan<'_>,
    needed: &[u32],
    search: Option<(u64, u32)>,
) -> Vec<(u64, u64)> {
    let own = &plan.own;
    let at = |name| plan.table(name).map_or(0, |table| table.section.address);
    let size = |name| plan.table(name).map_or(0, |table| table.section.size);
    let info = |name| plan.table(name).map_or(0, |table| u64::from(table.section.info));
    let mut all: Vec<(u64, u64)> = needed.iter().map(|&name| (DT_NEEDED, name.into())).collect();
    all.extend(search.map(|(tag, path)| (tag, u64::from(path))));
    all.extend([
        (DT_PREINIT_ARRAY, own.before_all.at),
        (DT_PREINIT_ARRAYSZ, own.before_all.size),
        (DT_INIT_ARRAY, own.initialise.at),
        (DT_INIT_ARRAYSZ, own.initialise.size),
        (DT_FINI_ARRAY, own.finalise.at),
        (DT_FINI_ARRAYSZ, own.finalise.size),
        (DT_GNU_HASH, at(".gnu.hash")),
        (DT_STRTAB, at(".dynstr")),
        (DT_STRSZ, size(".dynstr")),
        (DT_SYMTAB, at(".dynsym")),
        (DT_SYMENT, 24),
        (DT_DEBUG, 0),
        (DT_RELA, at(".rela.dyn")),
        (DT_RELASZ, size(".rela.dyn")),
        (DT_RELAENT, RELA as u64),
        (DT_VERSYM, at(".gnu.version")),
        (DT_VERDEF, at(".gnu.version_d")),
        (DT_VERDEFNUM, info(".gnu.version_d")),
        (DT_FLAGS, DF_BIND_NOW),
        (DT_FLAGS_1, if plan.fixed { DF_1_NOW } else { DF_1_NOW | DF_1_PIE }),
    ]);
    if size(".gnu.version_r") > 0 {
        all.push((DT_VERNEED, at(".gnu.version_r")));
        all.push((DT_VERNEEDNUM, info(".gnu.version_r")));
    }
    if plan.relocations.relative > 0 {
        all.push((DT_RELACOUNT, plan.relocations.relative as u64));
    }
    if size(".relr.dyn") > 0 {
        all.push((DT_RELR, at(".relr.dyn")));
        all.push((DT_RELRSZ, size(".relr.dyn")));
        all.push((DT_RELRENT, 8));
    }
    all
}

/// Adds the sections of the program headers, the preamble, the own data and the tables.
pub(crate) fn sections(plan: &Plan<'_>, sections: &mut Vec<Section>) {
    let own = &plan.own;
    let offset = |address: u64| plan.layout.file_end + (address - plan.layout.end);
    let section = |name: &str, kind: u32, more: u64, at: u64, size: u64, alignment: u64| Section {
        name: name.to_owned(),
        kind,
        flags: SHF_ALLOC | more,
        address: at,
        offset: offset(at),
        size,
        alignment,
        ..Section::default()
    };
    let reserved = &own.reserved;
    let dynamic_size = 16 * (plan.dynamic.len() as u64 + 1);
    let slots = 8 * (own.dynamic.at - reserved.slots) / 8;
    let mut all = vec![section(
        PREAMBLE_SECTION,
        SHT_PROGBITS,
        SHF_EXECINSTR,
        reserved.preamble.at,
        reserved.preamble.size,
        16,
    )];
    if plan.layout.tls.size > 0 {
        let (at, size) = (reserved.template, plan.layout.tls.size);
        let alignment = plan.layout.tls.alignment;
        all.push(section(".tdata", SHT_PROGBITS, SHF_WRITE | SHF_TLS, at, size, alignment));
    }
    all.push(section(".got", SHT_PROGBITS, SHF_WRITE, reserved.slots, slots, 8));
    let dynamic = section(".dynamic", SHT_DYNAMIC, SHF_WRITE, own.dynamic.at, dynamic_size, 8);
    all.push(Section { entry: 16, ..dynamic });
    let arrays = [
        (".preinit_array", SHT_PREINIT_ARRAY, own.before_all),
        (".init_array.headstart", SHT_PROGBITS, own.libraries),
        (".fini_array.headstart", SHT_PROGBITS, own.libraries_end),
        (".init_array", SHT_INIT_ARRAY, own.initialise),
        (".fini_array", SHT_FINI_ARRAY, own.finalise),
        (".data.headstart", SHT_PROGBITS, own.nodes),
    ];
    for (name, kind, array) in arrays.into_iter().filter(|(_, _, array)| array.size > 0) {
        all.push(section(name, kind, SHF_WRITE, array.at, array.size, 8));
    }
    all.extend(plan.tables.iter().map(|table| table.section.clone()));
    sections.extend(all);
    link(sections);
}

/// Sections name each other by number.
fn link(sections: &mut [Section]) {
    let number = |sections: &[Section], name: &str| {
        sections.iter().position(|section| section.name == name).unwrap_or(0) as u32
    };
    let strings = number(sections, ".dynstr");
    let symbols = number(sections, ".dynsym");
    for section in sections {
        match section.kind {
            SHT_DYNSYM => (section.link, section.info) = (strings, 1),
            SHT_DYNAMIC | SHT_GNU_VERDEF | SHT_GNU_VERNEED => section.link = strings,
            SHT_GNU_HASH | SHT_GNU_VERSYM | SHT_RELA => section.link = symbols,
            _ => {}
        }
    }
}
