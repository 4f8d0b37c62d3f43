//! What tells one build of a PE image from others, as symbol servers write it.

use super::debug;
use super::read::Pe;
use crate::notes::Notes;

/// [`read`] of the PE file `bytes`; `name` is only its name in errors. `None` where it is none.
pub(crate) fn of_bytes(name: &str, bytes: &[u8]) -> Option<String> {
    Pe::parse(name, bytes).ok().as_ref().map(read)
}

/// GUID and age of the PDB file; without one `TimeDateStamp` and `SizeOfImage`.
pub(super) fn read(file: &Pe<'_>) -> String {
    let notes = &mut Notes::new(file.bytes().len());
    let entries = debug::read(file, notes);
    let headers = file.headers();
    let by_headers = || format!("{:08X}{:x}", headers.time_stamp, headers.image_bytes);
    entries.into_iter().find_map(|entry| entry.build_id).unwrap_or_else(by_headers)
}
