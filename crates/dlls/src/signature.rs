//! Signatures that rewriting breaks, since they cover nearly every byte of a file: Authenticode,
//! and strong names of .NET assemblies.

use crate::{Advice, Refusal, RefusalReason};
use image::pe::edit::PeDraft;
use image::pe::{Pe, StrongNameState, spec};

/// What a file is signed with, as far as rewriting breaks it. Not checked: a signature may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signatures {
    /// Authenticode.
    pub authenticode: bool,
    /// The strong name of a .NET assembly.
    pub strong_name: bool,
    /// Windows loads it only with a valid Authenticode signature (FORCE_INTEGRITY).
    pub enforced: bool,
}

impl Signatures {
    /// Those of a file.
    pub fn of(file: &Pe<'_>) -> Signatures {
        let headers = file.headers();
        let entry = headers.directories.get(spec::SECURITY);
        let integrity = spec::IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY;
        let signed = |state| state == StrongNameState::Signed;
        Signatures {
            authenticode: entry.is_some_and(|entry| !entry.is_empty()),
            strong_name: file.strong_name().is_some_and(|name| signed(name.state)),
            enforced: headers.dll_characteristics & integrity != 0,
        }
    }

    /// Whether a change would break anything.
    pub fn any(self) -> bool {
        self.authenticode || self.strong_name || self.enforced
    }

    /// Why a file must not be changed without the user's word; `None` where it may be.
    pub fn obstacle(self) -> Option<&'static str> {
        Some(match (self.authenticode, self.strong_name) {
            (false, false) => return None,
            (true, false) => {
                "it is signed (Authenticode), and the signature would no longer be valid"
            }
            (false, true) => {
                "it is a .NET assembly with a strong name, whose signature would no longer be valid"
            }
            (true, true) => {
                "it is signed (Authenticode) and has a strong name (.NET), and neither signature \
                 would still be valid"
            }
        })
    }

    /// What to say of a file that lost these; `None` for none.
    pub fn removed(self) -> Option<&'static str> {
        Some(match (self.authenticode, self.strong_name) {
            (false, false) => return None,
            (true, false) => "its Authenticode signature was removed",
            (false, true) => STRONG_NAME_CLEARED,
            (true, true) => {
                "its Authenticode signature was removed, and the signature of its strong name \
                 cleared: sn -R FILE KEY signs it again"
            }
        })
    }
}

/// Whether a changed file is signed as before: only its `CheckSum` may differ, which neither kind of
/// signature covers.
pub fn is_kept(file: &Pe<'_>, new: &[u8]) -> bool {
    let at = file.headers().checksum_offset().index();
    let old = file.bytes();
    let same = |range: std::ops::Range<usize>| old.get(range.clone()) == new.get(range);
    old.len() == new.len() && same(0..at) && same(at.saturating_add(4).min(old.len())..old.len())
}

const STRONG_NAME_CLEARED: &str =
    "the signature of its strong name was cleared: sn -R FILE KEY signs it again";

/// Makes a file fit to be changed: unsigned ones are, signed ones are refused, or lose their
/// signatures where the user said so (`strip`). Gives those that were removed.
///
/// A strong name is left as public signing leaves it: the public key, the room and the flag stay,
/// and the signature is zero. The assembly keeps its name, .NET Core loads it as before, and the
/// .NET Framework does wherever it does not check signatures (full trust, outside the GAC).
///
/// To be called before anything else is changed: the signature's bytes are the file's last.
///
/// # Errors
/// The file is signed and `strip` is not set; Windows loads it with a valid signature only
/// (FORCE_INTEGRITY); or the signature does not lie where it can be removed.
pub fn settle(draft: &mut PeDraft, path: &str, strip: bool) -> Result<Signatures, Refusal> {
    let found = Signatures::of(&draft.pe());
    if found.enforced {
        let reason = "Windows loads it only with a valid signature (FORCE_INTEGRITY), which a \
             changed file does not have; rewrite it when it is built, before it is signed";
        return Err(Refusal::new(path, reason));
    }
    if let Some(obstacle) = found.obstacle().filter(|_| !strip) {
        // That it can be removed is only said where it can.
        remove(&mut draft.clone(), found, path)?;
        return Err(Refusal::new(
            path,
            RefusalReason::from(obstacle).with(Advice::StripSignature(found)),
        ));
    }
    remove(draft, found, path)?;
    Ok(found)
}

fn remove(draft: &mut PeDraft, found: Signatures, path: &str) -> Result<(), Refusal> {
    if found.strong_name {
        clear_strong_name(draft, path)?;
    }
    draft.strip_signature().map_err(|_| {
        let reason = "it is signed, but its signature is not at the end of the file, so it cannot \
             be removed safely; the file is damaged, or data was appended to it";
        Refusal::new(path, reason)
    })
}

fn clear_strong_name(draft: &mut PeDraft, path: &str) -> Result<(), Refusal> {
    let place = draft.pe().strong_name().and_then(|name| name.signature);
    let cleared =
        place.map(|place| draft.write(place.start, &vec![0; (place.end - place.start) as usize]));
    match cleared {
        Some(Ok(())) => Ok(()),
        _ => {
            let reason = "it is signed, but the signature of its strong name is not in the file, \
                 so it cannot be cleared; the file is damaged";
            Err(Refusal::new(path, reason))
        }
    }
}
