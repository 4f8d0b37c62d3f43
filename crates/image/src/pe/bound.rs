//! Bound imports: with which versions of DLLs the address table was filled beforehand.
//!
//! Format: `IMAGE_BOUND_IMPORT_DESCRIPTOR` of `winnt.h`. Offsets of names count from the
//! directory's start.

use super::read::Pe;
use super::spec;
use crate::notes::{Notes, entry};
use model::{BoundDll, BoundForwarder};
use object::LittleEndian as LE;
use object::pe;

const ENTRY: usize = size_of::<pe::ImageBoundImportDescriptor>();

/// Bound DLLs, in order; `valid` is not known here.
pub(super) fn read(file: &Pe<'_>, notes: &mut Notes) -> Vec<BoundDll> {
    let Some(directory) = file.directory(spec::BOUND_IMPORT) else { return Vec::new() };
    // Its address is an offset in the headers, where both are the same.
    let Some(table) = file.at(directory.rva) else {
        notes.problem(format!("bound imports at {:#x} are not in the file", directory.rva));
        return Vec::new();
    };
    let mut dlls = Vec::new();
    let mut rest = table;
    loop {
        let found: Option<&pe::ImageBoundImportDescriptor> = entry(rest);
        let Some(found) = found else {
            notes.problem("the table of bound imports has no end".to_owned());
            return dlls;
        };
        let (time_stamp, name) = (found.time_date_stamp.get(LE), found.offset_module_name.get(LE));
        if time_stamp == 0 && name == 0 {
            return dlls;
        }
        let count = usize::from(found.number_of_module_forwarder_refs.get(LE));
        let forwarders = rest.get(ENTRY..).unwrap_or(&[]);
        let forwarders = forwarders.chunks_exact(ENTRY).take(count).filter_map(|bytes| {
            let found: &pe::ImageBoundForwarderRef = entry(bytes)?;
            let name = text(table, found.offset_module_name.get(LE), notes);
            Some(BoundForwarder { name, time_stamp: found.time_date_stamp.get(LE) })
        });
        let forwarders = forwarders.collect();
        dlls.push(BoundDll { name: text(table, name, notes), time_stamp, forwarders, valid: None });
        rest = rest.get((count + 1) * ENTRY..).unwrap_or(&[]);
    }
}

fn text(table: &[u8], offset: u16, notes: &mut Notes) -> String {
    notes.name(table, offset.into(), "bound import").unwrap_or_default()
}
