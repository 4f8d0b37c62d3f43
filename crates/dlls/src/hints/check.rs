//! Whether hints are right.

use crate::names::text;
use crate::tables::{self, FromDll};
use crate::{MemberId, Missing, Refusal, Set};
use image::pe::imports::ImportBy;
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
pub(super) enum NamePosition {
    /// At this position among the DLL's names; with `true` only a right hint leads there.
    At(usize, bool),
    /// The DLL has no such name.
    Nowhere,
}

/// Holds the hints of image `importer` of a set against the DLLs of the set.
///
/// # Errors
/// The image's import tables are damaged.
pub fn check(set: &Set<'_>, importer: MemberId) -> Result<HintCheck, Refusal> {
    let mut check = HintCheck::default();
    let member = set.member(importer);
    for from in tables::read(&member.name(), member.pe())? {
        let dll = set.dll(importer, from.from.name);
        check.add(set, &from, dll);
    }
    Ok(check)
}

impl HintCheck {
    fn add(&mut self, set: &Set<'_>, from: &FromDll<'_>, dll: Result<MemberId, Missing>) {
        for import in &from.imports {
            let ImportBy::Name { hint, name, .. } = import.by else { continue };
            let Ok(dll) = dll else {
                *self.unknown.entry(text(from.from.name)).or_default() += 1;
                continue;
            };
            match position(set, dll, hint, name) {
                NamePosition::At(position, only_by_hint) => {
                    self.checked += 1;
                    self.wrong += u64::from(position != usize::from(hint));
                    self.only_by_hint += u64::from(only_by_hint);
                }
                NamePosition::Nowhere => {
                    let (dll, name) = (text(from.from.name), text(name));
                    self.missing.push(format!("{dll}!{name}"));
                }
            }
        }
    }
}

/// The position of a name among a DLL's: the hint's, where the name is there (a name can be there
/// twice), else where a binary search finds it, else where it is.
pub(super) fn position(set: &Set<'_>, dll: MemberId, hint: u16, name: &[u8]) -> NamePosition {
    let member = set.member(dll);
    let Ok(exports) = member.exports() else { return NamePosition::Nowhere };
    let at_hint = exports.named(usize::from(hint)).is_some_and(|(found, _)| found == name);
    let sorted = exports.position(name);
    match (at_hint, sorted) {
        (true, _) => NamePosition::At(hint.into(), sorted.is_none()),
        (false, Some(position)) => NamePosition::At(position, false),
        (false, None) => match member.position_out_of_order(name) {
            Some(position) => NamePosition::At(position, true),
            None => NamePosition::Nowhere,
        },
    }
}
