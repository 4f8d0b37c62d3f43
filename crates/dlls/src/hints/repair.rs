//! Wrong hints made right.

use super::check::{NamePosition, position};
use crate::names::text;
use crate::rewrite::MemberDraft;
use crate::tables::{self, FromDll};
use crate::{MemberId, Refusal, Set};
use image::pe::edit::PeDraft;
use image::pe::imports::ImportBy;
use model::Rva;
use std::collections::{BTreeMap, BTreeSet};

/// What became of the hints of one image. Counts are of imports by name, delayed ones among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Repaired {
    /// Hints that were right.
    pub right_before: u64,
    /// Hints that are right now.
    pub repaired: u64,
    /// Wrong, and left: several imports share one record of hint and name, and their DLLs have
    /// the name at different positions, or one of them is not at hand.
    pub shared: u64,
    /// Wrong, and left: the position is above 65535, which a hint cannot say.
    pub beyond: u64,
    /// Names that are only found by their hint now: their DLL's names are not in order.
    pub only_by_hint: u64,
    /// Imports from DLLs that are not at hand, by the DLL's name as written.
    pub unknown: BTreeMap<String, u64>,
    /// Imports of names that their DLL does not have, as `DLL!name`.
    pub missing: Vec<String>,
}

/// A record of hint and name: all that its imports want it to say.
#[derive(Default)]
struct Record {
    hint: u16,
    wanted: BTreeSet<usize>,
    imports: u64,
    unknown: bool,
}

/// Makes the hints of an image of a set right.
///
/// # Errors
/// Its import tables are damaged, or overlap so that a hint is part of something else. The draft
/// is of no use then.
pub fn repair(importer: &mut MemberDraft<'_, '_>) -> Result<Repaired, Refusal> {
    let MemberDraft { set, id, draft } = importer;
    let member = set.member(*id);
    let mut repaired = Repaired::default();
    let tables = tables::read(&member.name(), member.pe())?;
    let mut records: BTreeMap<Rva, Record> = BTreeMap::new();
    for dll in &tables {
        gather(set, *id, dll, &mut records, &mut repaired);
    }
    let mut hints = BTreeMap::new();
    for (rva, record) in &records {
        if let Some(hint) = repaired.decide(record) {
            tables::write(draft, &member.name(), member.pe(), *rva, &hint.to_le_bytes())?;
            hints.insert(*rva, hint);
        }
    }
    prove(draft, &member.name(), &tables, &hints)?;
    Ok(repaired)
}

fn gather(
    set: &Set<'_>,
    importer: MemberId,
    from: &FromDll<'_>,
    records: &mut BTreeMap<Rva, Record>,
    repaired: &mut Repaired,
) {
    let dll = set.dll(importer, from.from.name);
    for import in &from.imports {
        let ImportBy::Name { hint, rva, name } = import.by else { continue };
        let record = records.entry(rva).or_default();
        record.hint = hint;
        let found = match dll {
            Ok(dll) => position(set, dll, hint, name),
            Err(_) => {
                record.unknown = true;
                *repaired.unknown.entry(text(from.from.name)).or_default() += 1;
                continue;
            }
        };
        match found {
            NamePosition::At(position, only_by_hint) => {
                record.wanted.insert(position);
                record.imports += 1;
                repaired.only_by_hint += u64::from(only_by_hint);
            }
            NamePosition::Nowhere => {
                record.unknown = true;
                repaired.missing.push(format!("{}!{}", text(from.from.name), text(name)));
            }
        }
    }
}

impl Repaired {
    /// The hint that a record gets, if another one.
    fn decide(&mut self, record: &Record) -> Option<u16> {
        let mut wanted = record.wanted.iter();
        let (position, more) = (*wanted.next()?, wanted.next().is_some());
        if !more && position == usize::from(record.hint) {
            self.right_before += record.imports;
            return None;
        }
        if more || record.unknown {
            self.shared += record.imports;
            return None;
        }
        let hint = u16::try_from(position).ok();
        match hint {
            Some(_) => self.repaired += record.imports,
            None => self.beyond += record.imports,
        }
        hint
    }
}

/// Reads the new file, which has to say the same but for the hints.
fn prove(
    draft: &PeDraft,
    name: &str,
    before: &[FromDll<'_>],
    hints: &BTreeMap<Rva, u16>,
) -> Result<(), Refusal> {
    let expected = |by: ImportBy<'_>| match by {
        ImportBy::Name { rva, hint, .. } => hints.get(&rva).copied().unwrap_or(hint),
        ImportBy::Ordinal(_) => 0,
    };
    tables::prove(draft, name, before, |before, after| match (before.by, after.by) {
        (ImportBy::Name { name: old, rva, .. }, ImportBy::Name { name: new, rva: now, hint }) => {
            old == new && rva == now && hint == expected(before.by)
        }
        (before, after) => before == after,
    })
}
