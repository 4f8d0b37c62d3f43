//! .NET: images with a header of the common language runtime. ECMA-335, II.25.3.3.

use super::headers::Headers;
use super::{Unread, directory};
use crate::identify::fields::Fields;
use crate::identify::source::Source;
use model::{Identity, Runtime};
use object::pe;

/// Bytes of the header.
const HEADER: usize = 72;

/// What is said of a .NET image; `None` where it is none.
pub(super) fn remark(
    source: &mut Source,
    headers: &Headers,
    identity: &mut Identity,
) -> Option<String> {
    let place = directory(headers, pe::IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR);
    if place == Ok(None) {
        return None;
    }
    identity.runtimes.push(Runtime::DotNet);
    let flags = place.and_then(|place| {
        let (offset, _) = place.ok_or(Unread::Outside)?;
        let fields = Fields::little(source.get(offset, HEADER)?);
        // Flags, and the size of the native header that compilation ahead of time leaves.
        Ok((fields.u32(16).unwrap_or(0), fields.u32(68).unwrap_or(0)))
    });
    let Ok((flags, native)) = flags else {
        identity.unknown.get_or_insert("which .NET: its header could not be read".to_owned());
        return Some(".NET".to_owned());
    };
    let only_il = flags & pe::COMIMAGE_FLAGS_ILONLY.0 != 0;
    let any = only_il
        && headers.pe.machine == pe::IMAGE_FILE_MACHINE_I386.0
        && flags & pe::COMIMAGE_FLAGS_32BITREQUIRED.0 == 0;
    Some(match (native > 0, only_il) {
        (true, _) => ".NET (compiled ahead)".to_owned(),
        (false, true) if any => ".NET (IL only, any processor)".to_owned(),
        (false, true) => ".NET (IL only)".to_owned(),
        (false, false) => ".NET (mixed with native code)".to_owned(),
    })
}
