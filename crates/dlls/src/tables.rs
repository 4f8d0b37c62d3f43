//! The import tables of one image, whole or not at all.

use crate::Refusal;
use image::pe::Pe;
use image::pe::edit::PeDraft;
use image::pe::imports::{Import, ImportBy, Imported};
use model::Rva;

/// What all import tables together may take, in sizes of the file: more means that they overlap,
/// with which a small file could ask for endless work.
const MOST_OF_FILE: usize = 4;

/// What one image imports from one DLL.
#[derive(Clone, Debug)]
pub struct FromDll<'a> {
    /// The descriptor.
    pub from: Imported<'a>,
    /// What is imported, in order. Empty where it cannot be known, see
    /// [`FromDll::is_unreadable`].
    pub imports: Vec<Import<'a>>,
}

impl FromDll<'_> {
    /// Without an ILT, an IAT that was bound does not say what it is for.
    pub fn is_unreadable(&self) -> bool {
        is_unreadable(&self.from)
    }
}

fn is_unreadable(from: &Imported<'_>) -> bool {
    from.ilt.is_none() && from.time_stamp != 0
}

/// All imports of an image: those that are made when it is loaded, then the delayed ones.
///
/// # Errors
/// A table is not in the file, has no end, or tables overlap beyond measure.
pub fn read<'a>(name: &str, file: &Pe<'a>) -> Result<Vec<FromDll<'a>>, Refusal> {
    let damaged = |damage: String| {
        let reason = format!("its imports cannot be read: {damage}; build or copy it again");
        Refusal::new(name, reason)
    };
    if is_cut(file) {
        return Err(damaged("the file ends within its sections".to_owned()));
    }
    let mut left = file.bytes().len().saturating_mul(MOST_OF_FILE);
    let mut take = |bytes: usize| {
        left = left.checked_sub(bytes)?;
        Some(())
    };
    let overlap = || damaged("its tables overlap: together they are larger than the file".into());
    let mut dlls = Vec::new();
    for from in file.imported().chain(file.delay_imported()) {
        let from = from.map_err(|damage| damaged(damage.to_string()))?;
        take(from.name.len() + size_of::<FromDll<'_>>()).ok_or_else(overlap)?;
        let mut imports = Vec::new();
        if !is_unreadable(&from) {
            for import in file.imports(&from) {
                let import = import.map_err(|damage| damaged(damage.to_string()))?;
                let name_bytes = match import.by {
                    ImportBy::Name { name, .. } => name.len(),
                    ImportBy::Ordinal(_) => 0,
                };
                take(file.pointer_bytes() as usize + name_bytes).ok_or_else(overlap)?;
                imports.push(import);
            }
        }
        dlls.push(FromDll { from, imports });
    }
    Ok(dlls)
}

/// Whether a section has less in the file than its header says; in memory the rest is zero, and
/// tables seem to end there.
fn is_cut(file: &Pe<'_>) -> bool {
    let length = file.bytes().len() as u64;
    file.headers().sections.iter().any(|section| {
        let bytes = section.file_bytes.min(section.extent());
        bytes > 0 && section.offset.0 + u64::from(bytes) > length
    })
}

/// Writes what is at an address of an image into its draft.
pub(crate) fn write(
    draft: &mut PeDraft,
    name: &str,
    file: &Pe<'_>,
    rva: Rva,
    bytes: &[u8],
) -> Result<(), Refusal> {
    let offset = file.offset(rva).ok_or_else(|| outside(name, rva))?;
    draft.write(offset, bytes).map_err(|_| outside(name, rva))
}

/// A table that cannot be written to.
pub(crate) fn outside(name: &str, rva: Rva) -> Refusal {
    let reason = format!("the bytes at {rva:#x} are not in the file; build or copy it again");
    Refusal::new(name, reason)
}

/// Holds the import tables of a changed copy against those before: the same descriptors, and
/// imports that `same` accepts, each with that of before.
///
/// # Errors
/// They are not the same: tables overlap, and a change of one was a change of another.
pub(crate) fn prove(
    draft: &PeDraft,
    name: &str,
    before: &[FromDll<'_>],
    same: impl Fn(&Import<'_>, &Import<'_>) -> bool,
) -> Result<(), Refusal> {
    let after = Pe::parse(name, draft.bytes())?;
    let after = read(name, &after)?;
    let same_dll = |before: &FromDll<'_>, after: &FromDll<'_>| {
        let (old, new) = (&before.from, &after.from);
        let places = (old.name, old.descriptor, old.ilt, old.iat, old.delayed)
            == (new.name, new.descriptor, new.ilt, new.iat, new.delayed);
        let pairs = before.imports.iter().zip(&after.imports);
        places
            && before.imports.len() == after.imports.len()
            && pairs.into_iter().all(|(old, new)| {
                (old.ilt_entry, old.iat_entry) == (new.ilt_entry, new.iat_entry) && same(old, new)
            })
    };
    let pairs = before.iter().zip(&after);
    if before.len() == after.len() && pairs.into_iter().all(|(old, new)| same_dll(old, new)) {
        return Ok(());
    }
    let reason = "its import tables overlap, so one cannot be changed without another; build it \
         with a different linker";
    Err(Refusal::new(name, reason))
}
