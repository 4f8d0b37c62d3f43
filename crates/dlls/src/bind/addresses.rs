//! The addresses that imports get where every DLL is at its preferred base.

use super::directory::Entry;
use super::state::is_moved;
use super::unbind::Writes;
use crate::names::text;
use crate::tables::{self, FromDll};
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

/// One DLL of the address table.
pub(super) struct Addresses {
    pub(super) entry: Entry,
    pub(super) bound: Result<DllBinding, Left>,
    pub(super) writes: Writes,
    /// Images whose addresses these are.
    pub(super) images: Vec<MemberId>,
}

/// What the imports from one DLL get: all of them an address, or none.
///
/// # Errors
/// The address table is not in the file, or says something else than the lookup table.
pub(super) fn of(
    set: &Set<'_>,
    importer: MemberId,
    file: &Pe<'_>,
    path: &str,
    from: &FromDll<'_>,
) -> Result<Addresses, Refusal> {
    let entry =
        |time_stamp, forwarders| Entry { name: from.from.name.to_vec(), time_stamp, forwarders };
    unbound(file, path, from)?;
    match found(set, importer, file, from) {
        Ok(Found { time_stamp, images, forwarders, values }) => {
            let width = file.pointer_bytes() as usize;
            let writes = from.imports.iter().zip(values).map(|(import, value)| {
                let offset = file.offset(import.iat_entry)?;
                Some((offset, value.0.to_le_bytes().get(..width)?.to_vec()))
            });
            let writes: Option<Writes> = writes.collect();
            let writes = writes.ok_or_else(|| tables::outside(path, from.from.iat))?;
            let moved = |image: &MemberId| is_moved(set.member(*image).pe());
            let bound = DllBinding {
                name: text(from.from.name),
                time_stamp,
                imports: from.imports.len() as u64,
                forwarders: forwarders.iter().map(|(name, _)| text(name)).collect(),
                moved: images.iter().any(moved),
            };
            Ok(Addresses { entry: entry(time_stamp, forwarders), bound: Ok(bound), writes, images })
        }
        Err(reason) => {
            let (name, imports) = (text(from.from.name), from.imports.len() as u64);
            let at_hand = set.dll(importer, from.from.name).is_ok();
            let bound = Err(Left { name, imports, at_hand, reason });
            let (writes, images) = (Writes::new(), Vec::new());
            Ok(Addresses { entry: entry(0, Vec::new()), bound, writes, images })
        }
    }
}

/// Both tables say the same before an image is bound: else it could not be taken back.
fn unbound(file: &Pe<'_>, path: &str, from: &FromDll<'_>) -> Result<(), Refusal> {
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

struct Found {
    time_stamp: u32,
    images: Vec<MemberId>,
    forwarders: Vec<(Vec<u8>, u32)>,
    values: Vec<Va>,
}

fn found(
    set: &Set<'_>,
    importer: MemberId,
    file: &Pe<'_>,
    from: &FromDll<'_>,
) -> Result<Found, RefusalReason> {
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
    let mut stamps = Vec::new();
    for &image in &images {
        let member = set.member(image);
        let time_stamp = member.pe().headers().time_stamp;
        if time_stamp == 0 {
            let name = member.file_name();
            let reason =
                "has the time stamp 0, so loaders would not notice a different version of it";
            return Err(format!("{name} {reason}").into());
        }
        let name = member.path().file_name().unwrap_or_default().to_string_lossy();
        stamps.push((name.as_bytes().to_vec(), time_stamp));
    }
    let time_stamp = stamps.first().map_or(0, |(_, time_stamp)| *time_stamp);
    let forwarders = stamps.split_off(1.min(stamps.len()));
    Ok(Found { time_stamp, images, forwarders, values })
}
