//! Whether hints are right.

use crate::names::text;
use crate::tables::{self, FromDll};
use crate::{Declined, Missing, Set};
use image::pe::imports::By;
use std::collections::BTreeMap;

/// Hints of one image's imports by name, held against the DLLs that would be loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HintCheck {
    /// Imports by name whose DLL is at hand and has the name, delayed ones among them.
    pub checked: u64,
    /// Of these, those whose hint is not the name's position.
    pub wrong: u64,
    /// Of those checked, names that are only found by their hint: the DLL's names are not in order.
    pub only_by_hint: u64,
    /// Imports by name from DLLs that are not at hand, by the DLL's name as written.
    pub unknown: BTreeMap<String, u64>,
    /// Imports of names that their DLL does not have, as `DLL!name`.
    pub missing: Vec<String>,
}

/// Where an imported name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At this position among the DLL's names; with `true` only a right hint leads there.
    Position(usize, bool),
    /// The DLL has no such name.
    Nowhere,
}

/// Holds the hints of image `importer` of a set against the DLLs of the set.
///
/// # Errors
/// The image's import tables are damaged.
pub fn check(set: &Set<'_>, importer: usize) -> Result<HintCheck, Declined> {
    let mut check = HintCheck::default();
    let Some(member) = set.member(importer) else { return Ok(check) };
    for from in tables::read(&member.name(), member.pe())? {
        let dll = set.dll(importer, from.from.name);
        check.add(set, &from, dll);
    }
    Ok(check)
}

impl HintCheck {
    fn add(&mut self, set: &Set<'_>, from: &FromDll<'_>, dll: Result<usize, Missing>) {
        for import in &from.imports {
            let By::Name { hint, name, .. } = import.by else { continue };
            let Ok(dll) = dll else {
                *self.unknown.entry(text(from.from.name)).or_default() += 1;
                continue;
            };
            match place(set, dll, hint, name) {
                Place::Position(position, only_by_hint) => {
                    self.checked += 1;
                    self.wrong += u64::from(position != usize::from(hint));
                    self.only_by_hint += u64::from(only_by_hint);
                }
                Place::Nowhere => {
                    let (dll, name) = (text(from.from.name), text(name));
                    self.missing.push(format!("{dll}!{name}"));
                }
            }
        }
    }
}

/// The position of a name among a DLL's: the hint's, where the name is there (a name can be there
/// twice), else where halving finds it, else where it is.
pub(super) fn place(set: &Set<'_>, dll: usize, hint: u16, name: &[u8]) -> Place {
    let Some(member) = set.member(dll) else { return Place::Nowhere };
    let Ok(exports) = member.exports() else { return Place::Nowhere };
    let at_hint = exports.named(usize::from(hint)).is_some_and(|(found, _)| found == name);
    let halved = exports.position(name);
    match (at_hint, halved) {
        (true, _) => Place::Position(hint.into(), halved.is_none()),
        (false, Some(position)) => Place::Position(position, false),
        (false, None) => match member.position_out_of_order(name) {
            Some(position) => Place::Position(position, true),
            None => Place::Nowhere,
        },
    }
}
