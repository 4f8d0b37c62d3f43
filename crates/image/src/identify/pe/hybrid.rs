//! ARM64EC and ARM64X: images whose file header names another processor than their code is for.
//! Their load configuration points to the metadata of the hybrid.

use super::directory;
use super::headers::Headers;
use crate::identify::fields::Fields;
use crate::identify::source::Source;
use object::pe;

/// Where `IMAGE_LOAD_CONFIG_DIRECTORY64` has `CHPEMetadataPointer`.
const METADATA: usize = 200;

/// The hybrid that the image is, if it is one.
pub(super) fn name(source: &mut Source, headers: &Headers) -> Option<&'static str> {
    let name = match pe::Machine(headers.pe.machine) {
        pe::IMAGE_FILE_MACHINE_AMD64 => "arm64ec",
        pe::IMAGE_FILE_MACHINE_ARM64 => "arm64x",
        _ => return None,
    };
    let index = pe::IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG;
    let size = headers.pe.directories.get(index)?.size;
    let (offset, _) = directory(headers, index).ok()??;
    if !headers.pe.pe32_plus || (size as usize) < METADATA + 8 {
        return None;
    }
    let fields = Fields::little(source.get(offset, METADATA + 8).ok()?);
    let is_hybrid = fields.u32(0)? as usize >= METADATA + 8 && fields.u64(METADATA)? != 0;
    is_hybrid.then_some(name)
}
