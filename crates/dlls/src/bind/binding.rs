//! An image bound to the DLLs of its set.

use super::addresses::{self, Addresses, DllBinding, Left};
use super::directory::Entry;
use super::unbind::{STAMP, Writes, apply, unbind};
use super::{advice, directory, room};
use crate::names::{key, text};
use crate::rewrite::MemberDraft;
use crate::tables::{self, FromDll};
use crate::{MemberId, Refusal, RefusalReason, Set};
use image::pe::edit::PeDraft;
use image::pe::{DataDirectory, Pe, spec};
use model::{FileOffset, Rva, Va};
use std::collections::BTreeSet;

/// Entries of the bound-import directory begin at multiples of this.
const ALIGNMENT: usize = 4;

/// What an image was bound to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bound {
    /// DLLs whose addresses were written; none where the image could not be bound to any.
    pub dlls: Vec<DllBinding>,
    /// DLLs that loaders go on to search through.
    pub left: Vec<Left>,
    /// Delayed imports, which are bound at their first call as before.
    pub delayed_left: u64,
    /// It was bound before.
    pub was_bound: bool,
    /// DLLs that were bound to, and whose preferred addresses overlap others': only one of them can
    /// be there.
    pub overlapping: Vec<String>,
    /// Whether all of these but one can be moved by `rebase`.
    pub can_be_moved: bool,
}

/// Binds an image of a set. A DLL is bound to where all imports
/// from it lead to functions of images at hand; where there is none the draft stays as it is.
///
/// # Errors
/// It must not be bound (NO_BIND), has no lookup tables or no room for the bound-import directory,
/// or its tables overlap so that it could not be taken back. The
/// draft is of no use then.
pub fn bind(importer: &mut MemberDraft<'_, '_>) -> Result<Bound, Refusal> {
    let MemberDraft { set, id, draft } = importer;
    let member = set.member(*id);
    let path = member.name();
    let flags = draft.headers().dll_characteristics;
    if flags & spec::IMAGE_DLLCHARACTERISTICS_NO_BIND != 0 {
        let reason = "it is marked as not to be bound (NO_BIND)";
        return Err(Refusal::new(
            path,
            RefusalReason::from(reason).with(advice::no_bind(member.pe())),
        ));
    }
    let untouched = draft.clone();
    let before = unbind(draft, &path)?;
    let original = draft.clone();
    let (bound, directory) = plan(draft, &path, set, *id)?;
    let bound = Bound { was_bound: before.dlls > 0 || before.directory, ..bound };
    let Some((place, writes)) = directory else {
        *draft = untouched;
        return Ok(bound);
    };
    apply(draft, &path, &writes)?;
    draft.set_directory(spec::BOUND_IMPORT, place).map_err(|_| {
        let reason = "its data directory has no entry for bound imports; build it with a \
             different linker";
        Refusal::new(path.as_str(), reason)
    })?;
    prove(draft, &original, &path)?;
    Ok(bound)
}

/// What is to be written, with the directory's place.
fn plan(
    draft: &PeDraft,
    path: &str,
    set: &Set<'_>,
    importer: MemberId,
) -> Result<(Bound, Option<(DataDirectory, Writes)>), Refusal> {
    let file = Pe::parse(path, draft.bytes())?;
    let tables = tables::read(path, &file)?;
    let (delayed, loaded): (Vec<_>, Vec<_>) = tables.iter().partition(|dll| dll.from.delayed);
    check(&file, path, &loaded)?;
    let offset = |rva| file.offset(rva).ok_or_else(|| tables::outside(path, rva));
    let width = file.pointer_bytes() as usize;
    let (mut writes, mut entries) = (Writes::new(), Vec::new());
    let (mut dlls, mut left, mut images) = (Vec::new(), Vec::new(), BTreeSet::from([importer]));
    for from in loaded {
        addresses::check(&file, path, from)?;
        let Addresses { entry, bound, values, images: own } =
            match addresses::of(set, importer, &file, from) {
                Ok(addresses) => addresses,
                Err(reason) => {
                    let name = from.from.name;
                    entries.push(Entry::unbound(name));
                    let at_hand = set.dll(importer, name).is_ok();
                    let imports = from.imports.len() as u64;
                    left.push(Left { name: text(name), imports, at_hand, reason });
                    continue;
                }
            };
        for (import, value) in from.imports.iter().zip(values) {
            let value = value.0.to_le_bytes();
            writes.push((offset(import.iat_entry)?, value[..width].to_vec()));
        }
        writes.push((offset(from.from.descriptor.saturating_add(STAMP))?, vec![0xff; 8]));
        entries.push(entry);
        dlls.push(bound);
        images.extend(own);
    }
    let delayed_left = delayed.iter().map(|dll| dll.imports.len() as u64).sum();
    let overlapping = overlapping(set, &images);
    let can_be_moved = advice::can_be_moved(set, &overlapping);
    let names = overlapping.iter().map(|image| set.member(*image).file_name());
    let overlapping = names.collect();
    let bound = Bound { dlls, left, delayed_left, was_bound: false, overlapping, can_be_moved };
    if bound.dlls.is_empty() {
        return Ok((bound, None));
    }
    let (place, bytes) = placed(&file, path, &entries, set.member(importer).pe())?;
    writes.push((FileOffset(place.rva.0.into()), bytes));
    Ok((bound, Some((place, writes))))
}

/// What must be so before anything is bound.
fn check(file: &Pe<'_>, path: &str, loaded: &[&FromDll<'_>]) -> Result<(), Refusal> {
    let refuse = |reason: String| Err(Refusal::new(path, reason));
    let entry = file.headers().directories.get(spec::BOUND_IMPORT);
    if entry.is_some_and(|entry| *entry != DataDirectory::EMPTY) {
        return refuse("its entry for bound imports is half empty; build it again".to_owned());
    }
    let mut names = BTreeSet::new();
    for from in loaded {
        let name = text(from.from.name);
        if from.from.ilt.is_none() {
            return refuse(format!(
                "it has no lookup table for {name}, so it could not be unbound, and a changed DLL \
                 would break it; build it with a linker that writes one"
            ));
        }
        let chain = file.at(from.from.descriptor).and_then(|rest| rest.get(8..12));
        if chain != Some(&[0; 4]) {
            return refuse(format!("its descriptor for {name} is neither bound nor unbound"));
        }
        if !names.insert(key(from.from.name)) {
            return refuse(format!(
                "it imports from {name} in two places, and loaders would check only one of them \
                 if {name} has changed; link it with one import library for {name}"
            ));
        }
    }
    relocated(file, path, loaded)
}

/// Addresses in a table that base relocations change would be wrong wherever the image is moved.
fn relocated(file: &Pe<'_>, path: &str, loaded: &[&FromDll<'_>]) -> Result<(), Refusal> {
    let iat: BTreeSet<Rva> =
        loaded.iter().flat_map(|from| from.imports.iter().map(|import| import.iat_entry)).collect();
    let width = file.pointer_bytes();
    for block in file.relocation_blocks() {
        let damaged = |damage: image::pe::relocations::TableDamage| {
            Refusal::new(path, format!("{damage}; build or copy it again"))
        };
        for relocation in block.map_err(damaged)?.relocations() {
            let relocation = relocation.map_err(damaged)?;
            // A relocation writes to 8 bytes at most.
            let from = Rva(relocation.rva.0.saturating_sub(width - 1));
            let hit = iat.range(from..relocation.rva.saturating_add(8)).next();
            if relocation.kind != spec::IMAGE_REL_BASED_ABSOLUTE && hit.is_some() {
                let reason = format!(
                    "the base relocation at {:#x} changes its address table; build it again",
                    relocation.rva
                );
                return Err(Refusal::new(path, reason));
            }
        }
    }
    Ok(())
}

/// Where the directory goes, and its bytes.
fn placed(
    file: &Pe<'_>,
    path: &str,
    entries: &[Entry],
    original: &Pe<'_>,
) -> Result<(DataDirectory, Vec<u8>), Refusal> {
    let bytes = directory::bytes(entries);
    let bytes = bytes.ok_or_else(|| Refusal::new(path, "it imports from too many DLLs"))?;
    let room = room::of(file);
    let start = room.start.next_multiple_of(ALIGNMENT);
    let free = room.end.saturating_sub(start);
    if bytes.len() > free {
        let reason = format!(
            "there is not enough room in its headers: bound imports need {} bytes, but {free} are \
             free after the section table",
            bytes.len()
        );
        let advice = advice::room(original, path, bytes.len());
        return Err(Refusal::new(path, RefusalReason::from(reason).with(advice)));
    }
    let present = file.bytes().get(room).unwrap_or(&[1]);
    if present.iter().any(|&byte| byte != 0) {
        let reason = "the space after its section table, where bound imports are stored, is \
             already in use; it is left as it is";
        return Err(Refusal::new(path, reason));
    }
    // In the headers offsets are addresses too.
    let (rva, size) = (Rva(start as u32), bytes.len() as u32);
    Ok((DataDirectory { rva, size }, bytes))
}

/// The images whose preferred addresses overlap those of another.
fn overlapping(set: &Set<'_>, images: &BTreeSet<MemberId>) -> Vec<MemberId> {
    let mut ranges: Vec<(Va, Va, MemberId)> = images
        .iter()
        .map(|&image| {
            let headers = set.member(image).pe().headers();
            let end = headers.base.saturating_add(headers.image_bytes.into());
            (headers.base, end, image)
        })
        .collect();
    ranges.sort_unstable();
    let mut overlapping = BTreeSet::new();
    let mut widest: Option<(Va, MemberId)> = None;
    for (start, end, image) in ranges {
        if let Some((before, other)) = widest
            && start < before
        {
            overlapping.extend([other, image]);
        }
        if widest.is_none_or(|(before, _)| end > before) {
            widest = Some((end, image));
        }
    }
    overlapping.into_iter().collect()
}

/// The bound image imports the same, and unbinding it gives back every byte.
fn prove(bound: &PeDraft, original: &PeDraft, path: &str) -> Result<(), Refusal> {
    let before = Pe::parse(path, original.bytes())?;
    let before = tables::read(path, &before)?;
    tables::prove(bound, path, &before, |old, new| old.by == new.by)?;
    let mut restored = bound.clone();
    unbind(&mut restored, path)?;
    if restored.bytes() != original.bytes() {
        let reason = "its import tables overlap, so binding could not be undone; build it with a \
             different linker";
        return Err(Refusal::new(path, reason));
    }
    Ok(())
}
