//! Binding taken back.

use super::room;
use crate::{Refusal, tables};
use image::pe::edit::PeDraft;
use image::pe::{DataDirectory, Pe, bound, spec};
use model::{FileOffset, Rva};
use std::ops::Range;

/// Where `TimeDateStamp` and `ForwarderChain` are in an import descriptor.
pub(super) const STAMP: u32 = 4;

/// What was bound, and is not any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Unbound {
    /// DLLs that were bound to.
    pub dlls: u64,
    /// Addresses that were taken out of the address table.
    pub imports: u64,
    /// A bound-import directory was removed.
    pub directory: bool,
    /// Delayed DLLs with bound addresses, which are in a table of their own; they are left, as
    /// loaders compare them by themselves.
    pub delayed_left: u64,
}

/// What is written where, in the file.
pub(super) type Writes = Vec<(FileOffset, Vec<u8>)>;

/// Restores an image as it was before it was bound: the IAT from the ILT, the
/// descriptors' stamps, and no bound-import directory. `path` is its name in errors.
///
/// # Errors
/// It was bound without a lookup table, or its import tables are damaged. The draft is as before.
pub fn unbind(draft: &mut PeDraft, path: &str) -> Result<Unbound, Refusal> {
    let mut unbound = Unbound::default();
    let mut writes = Writes::new();
    let file = Pe::parse(path, draft.bytes())?;
    for dll in tables::read(path, &file)? {
        let from = &dll.from;
        if from.delayed {
            unbound.delayed_left += u64::from(from.time_stamp != 0 && from.bound_iat.is_some());
            continue;
        }
        if from.time_stamp == 0 {
            continue;
        }
        if from.ilt.is_none() {
            let name = crate::names::text(from.name);
            let reason = format!(
                "its imports from {name} are bound, but it has no lookup table from which to \
                 restore them; build or copy it again"
            );
            return Err(Refusal::new(path, reason));
        }
        for import in &dll.imports {
            writes.push(word(&file, path, import.ilt_entry, import.iat_entry)?);
        }
        let stamps = from.descriptor.checked_add(STAMP).and_then(|rva| file.offset(rva));
        writes.push((stamps.ok_or_else(|| tables::outside(path, from.descriptor))?, vec![0; 8]));
        unbound.dlls += 1;
        unbound.imports += dll.imports.len() as u64;
    }
    let directory = file.directory(spec::BOUND_IMPORT);
    let zeroed = directory.and_then(|directory| own_room(&file, directory));
    writes.extend(zeroed.map(|range| (FileOffset::at(range.start), vec![0; range.len()])));
    unbound.directory = directory.is_some();
    apply(draft, path, &writes)?;
    if unbound.directory {
        let none = DataDirectory::EMPTY;
        draft
            .set_directory(spec::BOUND_IMPORT, none)
            .map_err(|_| tables::outside(path, none.rva))?;
    }
    Ok(unbound)
}

/// The word at one address, to be written to another.
fn word(file: &Pe<'_>, path: &str, from: Rva, to: Rva) -> Result<(FileOffset, Vec<u8>), Refusal> {
    let bytes = file.pointer_bytes() as usize;
    let word = file.range(from, bytes).ok_or_else(|| tables::outside(path, from))?;
    file.range(to, bytes).ok_or_else(|| tables::outside(path, to))?;
    let offset = file.offset(to).ok_or_else(|| tables::outside(path, to))?;
    Ok((offset, word.to_vec()))
}

/// The bytes of a bound-import directory, where they are in the room behind the section table and
/// so are nothing else.
fn own_room(file: &Pe<'_>, directory: DataDirectory) -> Option<Range<usize>> {
    let (mut entries, mut end) = (0, 0);
    for bound in file.bound_imports() {
        let bound = bound.ok()?;
        entries += 1 + bound.forwarders.len();
        end = end.max(bound.end);
    }
    let end = end.max((entries + 1) * bound::ENTRY).max(directory.size as usize);
    let start = directory.rva.0 as usize;
    let range = start..start.checked_add(end)?;
    let room = room::of(file);
    (room.start <= range.start && range.end <= room.end).then_some(range)
}

pub(super) fn apply(draft: &mut PeDraft, path: &str, writes: &Writes) -> Result<(), Refusal> {
    let length = draft.bytes().len();
    let fits = |(offset, bytes): &(FileOffset, Vec<u8>)| {
        offset.index().checked_add(bytes.len()).is_some_and(|end| end <= length)
    };
    if !writes.iter().all(fits) {
        return Err(Refusal::new(path, "its import tables are not in the file"));
    }
    for (offset, bytes) in writes {
        let written = draft.write(*offset, bytes);
        written.map_err(|error| Refusal::new(path, error.to_string()))?;
    }
    Ok(())
}
