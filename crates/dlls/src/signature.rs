//! Authenticode signatures, which cover nearly every byte of a file: any rewriting breaks them.

use crate::Declined;
use image::pe::edit::Draft;
use image::pe::spec;

/// Makes a file fit to be changed: unsigned ones are, signed ones are refused, or lose their
/// signature where the user said so (`strip`). Whether one was removed.
///
/// To be called before anything else is changed: the signature's bytes are the file's last.
///
/// # Errors
/// The file is signed and `strip` is not set; Windows loads it with a valid signature only
/// (FORCE_INTEGRITY); or the signature does not lie where it can be removed.
pub fn settle(draft: &mut Draft, path: &str, strip: bool) -> Result<bool, Declined> {
    let headers = draft.headers();
    let entry = headers.directories.get(spec::SECURITY);
    let signed = entry.is_some_and(|entry| entry.rva != 0 && entry.size != 0);
    if headers.dll_characteristics & spec::IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY != 0 {
        let reason = "Windows loads it only with a valid signature (FORCE_INTEGRITY), which a \
                      changed file does not have; rewrite it where it is built, before it is signed";
        return Err(Declined::refused(path, reason));
    }
    if !signed {
        return Ok(false);
    }
    if !strip {
        let reason = "it is signed, and the signature would not be valid any more; \
                      --strip-signature removes it, or rewrite the file before it is signed";
        return Err(Declined::refused(path, reason));
    }
    draft.strip_signature().map_err(|_| {
        let reason = "its signature is not the last thing in the file, so that it cannot be \
                      removed safely; the file is damaged, or something was appended to it";
        Declined::refused(path, reason)
    })?;
    Ok(true)
}
