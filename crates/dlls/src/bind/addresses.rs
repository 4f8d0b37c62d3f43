//! The addresses that imports get where every DLL is at its preferred base.

use super::directory::Entry;
use super::state::is_moved;
use crate::names::text;
use crate::tables::FromDll;
use crate::{MemberId, Refusal, RefusalReason, Set, Unresolved};
use image::pe::Pe;
use model::Va;

/// A DLL that is bound to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DllBinding {
    /// As written in the importer.
    pub name: String,
    /// Its `TimeDateStamp`.
    pub time_stamp: u32,
    /// Addresses written.
    pub imports: u64,
    /// DLLs that it forwards to.
    pub forwarders: Vec<String>,
    /// It, or one that it forwards to, is moved by ASLR: Windows finds it elsewhere, and binds anew
    /// at every start.
    pub moved: bool,
}

/// A DLL that is not bound to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Left {
    /// As written in the importer.
    pub name: String,
    /// Imports from it.
    pub imports: u64,
    /// Whether its file is known.
    pub at_hand: bool,
    /// Why; a sentence beside which the advice is told.
    #[serde(skip)]
    pub reason: RefusalReason,
}

/// What the imports from one DLL get.
pub(super) struct Addresses {
    pub(super) entry: Entry,
    pub(super) bound: DllBinding,
    /// The address of each, in order.
    pub(super) values: Vec<Va>,
    /// Images whose addresses these are.
    pub(super) images: Vec<MemberId>,
}

/// Both tables say the same before an image is bound: else it could not be taken back.
///
/// # Errors
/// The address table is not in the file, or says something else than the lookup table.
pub(super) fn check(file: &Pe<'_>, path: &str, from: &FromDll<'_>) -> Result<(), Refusal> {
    let differs = |import: &&image::pe::imports::Import<'_>| {
        let (ilt, iat) = (file.pointer(import.ilt_entry), file.pointer(import.iat_entry));
        iat.is_none() || ilt != iat
    };
    if let Some(import) = from.imports.iter().find(differs) {
        let reason = format!(
            "the address table at {:#x} differs from the lookup table, although it is not bound; \
             build it again",
            import.iat_entry
        );
        return Err(Refusal::new(path, reason));
    }
    Ok(())
}

/// What the imports from one DLL get: all of them an address, or none.
///
/// # Errors
/// One leads nowhere, or the DLL cannot be bound to.
pub(super) fn of(
    set: &Set<'_>,
    importer: MemberId,
    file: &Pe<'_>,
    from: &FromDll<'_>,
) -> Result<Addresses, RefusalReason> {
    let unresolved =
        |error: Unresolved| RefusalReason::from(error.to_string()).with(error.advice());
    let dll = set.dll(importer, from.from.name).map_err(|missing| unresolved(missing.into()))?;
    let mut images = vec![dll];
    let mut values = Vec::with_capacity(from.imports.len());
    for import in &from.imports {
        let export = set.export(dll, import.by).map_err(unresolved)?;
        let resolved = set.follow(importer, export).map_err(unresolved)?;
        for image in resolved.forwarders {
            if !images.contains(&image) {
                images.push(image);
            }
        }
        let base = set.member(resolved.dll).pe().headers().base;
        let value = base.checked_add(resolved.rva.0.into());
        let value = value.filter(|value| file.headers().pe32_plus || value.0 <= u32::MAX.into());
        values.push(value.ok_or("its preferred base is beyond the address space")?);
    }
    let stamp = |image: &MemberId| set.member(*image).pe().headers().time_stamp;
    if let Some(image) = images.iter().find(|image| stamp(image) == 0) {
        let reason = "has the time stamp 0, so loaders would not notice a different version of it";
        return Err(format!("{} {reason}", set.member(*image).file_name()).into());
    }
    let forwarders: Vec<(Vec<u8>, u32)> = images
        .iter()
        .skip(1)
        .map(|image| {
            let name = set.member(*image).path().file_name().unwrap_or_default();
            (name.to_string_lossy().as_bytes().to_vec(), stamp(image))
        })
        .collect();
    let bound = DllBinding {
        name: text(from.from.name),
        time_stamp: stamp(&dll),
        imports: from.imports.len() as u64,
        forwarders: forwarders.iter().map(|(name, _)| text(name)).collect(),
        moved: images.iter().any(|image| is_moved(set.member(*image).pe())),
    };
    let entry = Entry { name: from.from.name.to_vec(), time_stamp: bound.time_stamp, forwarders };
    Ok(Addresses { entry, bound, values, images })
}
