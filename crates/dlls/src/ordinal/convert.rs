//! Names in lookup tables replaced by ordinals.

use crate::elsewhere::{Exclusions, Why};
use crate::names::{key, text};
use crate::rewrite::MemberDraft;
use crate::tables::{self, FromDll};
use crate::{Advice, MemberId, Refusal, RefusalReason, Set, Unresolved};
use image::pe::Pe;
use image::pe::edit::PeDraft;
use image::pe::imports::{Import, ImportBy};
use model::Rva;
use std::collections::BTreeMap;

/// A function or variable that is imported by its ordinal now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrdinalImport {
    /// The DLL.
    pub dll: MemberId,
    /// Its ordinal there.
    pub ordinal: u16,
    /// Its name.
    pub name: Vec<u8>,
}

/// What became of the imports of one image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvertedImports {
    /// Imports by name that are by ordinal now, delayed ones among them, in order.
    pub functions: Vec<OrdinalImport>,
    /// Imports from DLLs of the set that were by ordinal before.
    pub by_ordinal_before: u64,
    /// Imports by name from DLLs that are not named, by the DLL's name as written: they stay, as
    /// those may be replaced by other versions.
    pub outside: BTreeMap<String, u64>,
    /// Imports by name from DLLs that are named, but of which another copy may be loaded, by the
    /// DLL's name as written: they stay, with the reason.
    pub excluded: BTreeMap<String, (u64, Why)>,
    /// Imports by name that stay, as `DLL!name` with the reason.
    pub left: Vec<String>,
}

/// Converts the imports of an image of a set, those from DLLs named in it that `exclusions` does not
/// rule out. Names stay exported, so that `GetProcAddress`
/// finds them.
///
/// # Errors
/// It is bound, or its import tables are damaged, or overlap. The draft is of no use then.
pub fn convert(
    importer: &mut MemberDraft<'_, '_>,
    exclusions: &Exclusions,
) -> Result<ConvertedImports, Refusal> {
    let MemberDraft { set, id, draft } = importer;
    let member = set.member(*id);
    let mut converted = ConvertedImports::default();
    let (path, file) = (member.name(), member.pe());
    let tables = tables::read(&path, file)?;
    if tables.iter().any(|dll| !dll.from.delayed && dll.from.time_stamp != 0) {
        let reason = RefusalReason::from("it is bound");
        return Err(Refusal::new(path, reason.with(Advice::UnbindFirst)));
    }
    let mut wanted: BTreeMap<Rva, Wanted> = BTreeMap::new();
    for from in &tables {
        let why = exclusions.why(&key(from.from.name));
        plan(set, *id, from, why, &mut wanted, &mut converted);
    }
    let ordinals = converted.decide(wanted);
    for from in &tables {
        for import in &from.imports {
            if let Some(ordinal) = ordinals.get(&import.ilt_entry) {
                write(draft, &path, file, from, import, *ordinal)?;
            }
        }
    }
    tables::prove(draft, &path, &tables, |old, new| match ordinals.get(&old.ilt_entry) {
        Some(ordinal) => new.by == ImportBy::Ordinal(*ordinal),
        None => new.by == old.by,
    })?;
    Ok(converted)
}

/// What the imports want that share an entry of a lookup table; nearly always it is one.
enum Wanted {
    Function(OrdinalImport),
    /// It stays as it is.
    Nothing,
    /// They do not agree.
    Both(String),
}

fn plan(
    set: &Set<'_>,
    importer: MemberId,
    from: &FromDll<'_>,
    excluded: Option<Why>,
    wanted: &mut BTreeMap<Rva, Wanted>,
    converted: &mut ConvertedImports,
) {
    let dll = set.dll(importer, from.from.name).ok().filter(|dll| set.is_named(*dll));
    for import in &from.imports {
        let one = match (dll, import.by) {
            (Some(_), ImportBy::Ordinal(_)) => {
                converted.by_ordinal_before += 1;
                Wanted::Nothing
            }
            (None, ImportBy::Ordinal(_)) => Wanted::Nothing,
            (None, ImportBy::Name { .. }) => {
                *converted.outside.entry(text(from.from.name)).or_default() += 1;
                Wanted::Nothing
            }
            (Some(_), ImportBy::Name { .. }) if let Some(why) = excluded => {
                let kept = converted.excluded.entry(text(from.from.name));
                kept.or_insert((0, why)).0 += 1;
                Wanted::Nothing
            }
            (Some(dll), ImportBy::Name { name, .. }) => {
                match function(set, dll, from, import, name) {
                    Ok(function) => Wanted::Function(function),
                    Err(reason) => {
                        let (dll, name) = (text(from.from.name), text(name));
                        converted.left.push(format!("{dll}!{name}: {reason}"));
                        Wanted::Nothing
                    }
                }
            }
        };
        let one = match (wanted.remove(&import.ilt_entry), one) {
            (None, one) => one,
            (Some(Wanted::Nothing), Wanted::Nothing) => Wanted::Nothing,
            (Some(Wanted::Function(a)), Wanted::Function(b)) if a == b => Wanted::Function(a),
            _ => Wanted::Both(text(from.from.name)),
        };
        wanted.insert(import.ilt_entry, one);
    }
}

/// The ordinal of an imported name.
fn function(
    set: &Set<'_>,
    dll: MemberId,
    from: &FromDll<'_>,
    import: &Import<'_>,
    name: &[u8],
) -> Result<OrdinalImport, String> {
    if from.from.virtual_addresses {
        return Err("its table holds virtual addresses, which base relocations change".to_owned());
    }
    let export = set.export(dll, import.by).map_err(|error: Unresolved| error.to_string())?;
    let exports = set.member(dll).exports().ok();
    let ordinal = exports.and_then(|exports| exports.ordinal_of_index(export.index));
    let ordinal = ordinal.ok_or("its ordinal is above 65535")?;
    Ok(OrdinalImport { dll, ordinal, name: name.to_vec() })
}

impl ConvertedImports {
    /// The ordinals to be written, by the address of their entry.
    fn decide(&mut self, wanted: BTreeMap<Rva, Wanted>) -> BTreeMap<Rva, u16> {
        let mut ordinals = BTreeMap::new();
        for (ilt_entry, wanted) in wanted {
            match wanted {
                Wanted::Function(function) => {
                    ordinals.insert(ilt_entry, function.ordinal);
                    self.functions.push(function);
                }
                Wanted::Nothing => {}
                Wanted::Both(dll) => self.left.push(format!(
                    "{dll}: several imports share the entry at {ilt_entry:#x} of a table"
                )),
            }
        }
        ordinals
    }
}

fn write(
    draft: &mut PeDraft,
    path: &str,
    file: &Pe<'_>,
    from: &FromDll<'_>,
    import: &Import<'_>,
    ordinal: u16,
) -> Result<(), Refusal> {
    let width = file.pointer_bytes();
    let word = 1_u64 << (8 * width - 1) | u64::from(ordinal);
    let word = word.to_le_bytes();
    let word = word.get(..width as usize).unwrap_or(&word);
    tables::write(draft, path, file, import.ilt_entry, word)?;
    // The address table of delayed imports leads to code that loads them.
    if from.from.delayed || import.iat_entry == import.ilt_entry {
        return Ok(());
    }
    if file.pointer(import.iat_entry) != file.pointer(import.ilt_entry) {
        let reason = format!(
            "the address table at {:#x} differs from the lookup table; build it again",
            import.iat_entry
        );
        return Err(Refusal::new(path, reason));
    }
    tables::write(draft, path, file, import.iat_entry, word)
}
