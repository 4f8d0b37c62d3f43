//! The copy of a library that is carried: it looks for what it needs where the bundle tells it to.

use image::elf::{Loadable, spec};
use std::io;
use std::path::Path;

/// In the range of systems' own tags, and of no meaning: loaders pass over it.
const NO_MEANING: u64 = 0x6000_000d;
/// Bytes of an entry of the dynamic table.
const ENTRY_BYTES: usize = 16;

/// The bytes of a copy of the library at `path`. A search path of its own (DT_RUNPATH, DT_RPATH) would lead
/// elsewhere, and with a DT_RUNPATH the loader does not look where the bundle's DT_RPATH leads.
pub(crate) fn of(path: &Path) -> io::Result<Vec<u8>> {
    let image = Loadable::open(path).map_err(|error| io::Error::other(error.to_string()))?;
    let mut bytes = image.bytes().to_vec();
    let Some(table) = image.segment(spec::PT_DYNAMIC) else { return Ok(bytes) };
    let start = table.offset.index();
    for (index, entry) in image.dynamic().iter().enumerate() {
        if [spec::DT_RUNPATH, spec::DT_RPATH].contains(&entry.tag) {
            let at = start.saturating_add(index * ENTRY_BYTES);
            let tag = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<8>());
            if let Some(tag) = tag.filter(|tag| **tag == entry.tag.to_le_bytes()) {
                *tag = NO_MEANING.to_le_bytes();
            }
        }
    }
    Ok(bytes)
}
