//! Whether a bound image is still bound to what would be loaded.
//!
//! Source: *Binding* in *An In-Depth Look into the Win32 Portable Executable File Format* (Pietrek,
//! 2002): a loader compares `TimeDateStamp`, and that the DLL is at its preferred base.

use crate::names::{key, text};
use crate::{MemberId, Refusal, Set};
use image::pe::{Pe, spec};
use model::BoundState;
use std::collections::BTreeSet;

/// `TimeDateStamp` of descriptors whose state is in the bound-import directory.
pub(crate) const IN_DIRECTORY: u32 = u32::MAX;

/// A DLL that an image was bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundTo {
    /// As written in the image.
    pub name: String,
    /// `TimeDateStamp` of the DLL that was bound to; 0 for one that was not at hand then.
    pub time_stamp: u32,
    /// Whether loaders would take the addresses as they are.
    pub state: BoundState,
}

/// What image `importer` of a set is bound to, in order: by its bound-import directory, or by its
/// descriptors where it has none (as images were bound before Windows NT 4). Empty where it is not
/// bound.
///
/// # Errors
/// The directory or a descriptor is damaged.
pub fn state(set: &Set<'_>, importer: MemberId) -> Result<Vec<BoundTo>, Refusal> {
    let member = set.member(importer);
    let damaged = |damage: String| {
        let reason = format!("{damage}; unbind it, or build or copy it again");
        Refusal::new(member.name(), reason)
    };
    let mut all = Vec::new();
    let unbound = unbound(member.pe());
    for bound in member.pe().bound_imports() {
        let bound = bound.map_err(|damage| damaged(damage.to_string()))?;
        let mut state = match bound.time_stamp {
            0 if unbound.contains(&key(bound.name)) => BoundState::Unbound,
            time_stamp => compared(set, importer, bound.name, time_stamp),
        };
        for (name, time_stamp) in &bound.forwarders {
            if state == BoundState::Valid {
                state = compared(set, importer, name, *time_stamp);
            }
        }
        all.push(BoundTo { name: text(bound.name), time_stamp: bound.time_stamp, state });
    }
    if !all.is_empty() {
        return Ok(all);
    }
    for imported in member.pe().imported() {
        let imported = imported.map_err(|damage| damaged(damage.to_string()))?;
        if !matches!(imported.time_stamp, 0 | IN_DIRECTORY) {
            let state = compared(set, importer, imported.name, imported.time_stamp);
            let (name, time_stamp) = (text(imported.name), imported.time_stamp);
            all.push(BoundTo { name, time_stamp, state });
        }
    }
    Ok(all)
}

/// DLLs whose imports have no addresses yet, by their descriptors.
fn unbound(file: &Pe<'_>) -> BTreeSet<Vec<u8>> {
    let imported = file.imported().map_while(Result::ok);
    imported.filter(|one| one.time_stamp == 0).map(|one| key(one.name)).collect()
}

fn compared(set: &Set<'_>, importer: MemberId, name: &[u8], time_stamp: u32) -> BoundState {
    let Ok(dll) = set.dll(importer, name) else { return BoundState::Unknown };
    let dll = set.member(dll).pe();
    match dll.headers().time_stamp == time_stamp {
        false => BoundState::Stale,
        true if is_moved(dll) => BoundState::Moved,
        true => BoundState::Valid,
    }
}

/// Whether loaders put an image somewhere else than where it wants to be.
pub(crate) fn is_moved(file: &Pe<'_>) -> bool {
    let headers = file.headers();
    headers.dll_characteristics & spec::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE != 0
        && headers.characteristics & spec::IMAGE_FILE_RELOCS_STRIPPED == 0
}
