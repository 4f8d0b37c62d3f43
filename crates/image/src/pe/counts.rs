//! Imports and exports, counted.

use super::exports::{ExportTarget, Exports};
use super::imports::{ImportBy, Imported};
use super::read::Pe;
use crate::notes::{Budget, Notes};
use model::ImportedDll;

/// Names may be shared; more than so many sizes of the file means tables that overlap.
const TIMES: usize = 4;

#[derive(Default)]
pub(super) struct ImportCounts {
    pub(super) functions: u64,
    pub(super) by_ordinal: u64,
    pub(super) delayed: u64,
    pub(super) dlls: Vec<ImportedDll>,
}

pub(super) fn imports(file: &Pe<'_>, notes: &mut Notes) -> ImportCounts {
    let mut counts = ImportCounts::default();
    let budget = &mut Budget::of_files(file.bytes(), TIMES);
    for imported in file.imported().chain(file.delay_imported()) {
        let imported = match imported {
            Ok(imported) => imported,
            Err(damage) => {
                notes.problem(damage.to_string());
                continue;
            }
        };
        let dll = from_dll(file, &imported, budget, notes);
        if imported.delayed {
            counts.delayed += dll.functions;
        } else {
            counts.functions += dll.functions;
            counts.by_ordinal += dll.by_ordinal;
        }
        counts.dlls.push(dll);
        if !budget.take(imported.name, "imports", notes) {
            break;
        }
    }
    counts
}

fn from_dll(
    file: &Pe<'_>,
    imported: &Imported<'_>,
    budget: &mut Budget,
    notes: &mut Notes,
) -> ImportedDll {
    let (name, delayed) = (notes.text(imported.name), imported.delayed);
    let mut dll = ImportedDll { name, functions: 0, by_ordinal: 0, delayed };
    if imported.ilt.is_none() && imported.time_stamp != 0 {
        // Bound without a lookup table: addresses, which can only be counted.
        let slots = file.at(imported.iat).unwrap_or(&[]);
        let slots = slots.chunks_exact(file.pointer_bytes() as usize);
        let slots = slots.take_while(|slot| slot.iter().any(|&byte| byte != 0));
        dll.functions = slots.count() as u64;
        let bytes = dll.functions as usize * file.pointer_bytes() as usize;
        budget.take_bytes(bytes, "imports", notes);
        return dll;
    }
    for import in file.imports(imported) {
        let name_bytes = match import {
            Ok(import) => {
                dll.functions += 1;
                dll.by_ordinal += u64::from(matches!(import.by, ImportBy::Ordinal(_)));
                match import.by {
                    ImportBy::Name { name, .. } => name.len(),
                    ImportBy::Ordinal(_) => 0,
                }
            }
            Err(damage) => {
                notes.problem(damage.to_string());
                0
            }
        };
        if !budget.take_bytes(file.pointer_bytes() as usize + name_bytes, "imports", notes) {
            break;
        }
    }
    dll
}

#[derive(Default)]
pub(super) struct ExportCounts {
    pub(super) functions: u64,
    pub(super) named: u64,
    pub(super) forwarders: u64,
    pub(super) names: u64,
    pub(super) own_name: Option<String>,
}

pub(super) fn exports(file: &Pe<'_>, notes: &mut Notes) -> ExportCounts {
    let exports = match file.exports() {
        Ok(Some(exports)) => exports,
        Ok(None) => return ExportCounts::default(),
        Err(damage) => {
            notes.problem(damage.to_string());
            return ExportCounts::default();
        }
    };
    let mut counts = ExportCounts {
        names: exports.name_count() as u64,
        own_name: exports.own_name().map(|name| notes.text(name)),
        ..ExportCounts::default()
    };
    let budget = &mut Budget::of_files(file.bytes(), TIMES);
    for (index, named) in (0..).zip(named(&exports, notes)) {
        let forwarder_bytes = match exports.target(index) {
            None => continue,
            Some(ExportTarget::Address(_)) => 0,
            Some(ExportTarget::Forwarder(text)) => {
                counts.forwarders += 1;
                text.len()
            }
        };
        counts.functions += 1;
        counts.named += u64::from(named);
        if !budget.take_bytes(forwarder_bytes, "forwarders", notes) {
            break;
        }
    }
    counts
}

/// Which functions of the table have names.
fn named(exports: &Exports<'_, '_>, notes: &mut Notes) -> Vec<bool> {
    let mut named = vec![false; exports.len()];
    let mut beyond = 0_u64;
    for position in 0..exports.name_count() {
        match exports.index_at(position).and_then(|index| named.get_mut(index as usize)) {
            Some(named) => *named = true,
            None => beyond += 1,
        }
    }
    if beyond > 0 {
        notes.problem(format!("{beyond} exported names have no function"));
    }
    named
}
