//! What tells one build of a PE image from others, as symbol servers write it.

use super::debug;
use super::read::Pe;
use crate::notes::Notes;

/// GUID and age of the PDB file; without one `TimeDateStamp` and `SizeOfImage`.
pub(super) fn read(file: &Pe<'_>) -> String {
    let notes = &mut Notes::new(file.bytes().len());
    let entries = debug::read(file, notes);
    let headers = file.headers();
    let by_headers = || format!("{:08X}{:x}", headers.time_stamp, headers.image_bytes);
    entries.into_iter().find_map(|entry| entry.build_id).unwrap_or_else(by_headers)
}
