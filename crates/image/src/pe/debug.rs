//! The debug directory. Format: *The .debug Section*; a CodeView entry is `RSDS`, a GUID, an age
//! and the path of the PDB file, or in old files `NB10`, an offset, a signature, an age, the path.

use super::read::Pe;
use super::spec;
use crate::notes::{Budget, Notes, entries};
use model::DebugEntry;
use object::LittleEndian as LE;
use object::pe;

/// As `winnt.h` names the types.
const KINDS: [&str; 21] = [
    "unknown",
    "coff",
    "codeview",
    "fpo",
    "misc",
    "exception",
    "fixup",
    "omap_to_src",
    "omap_from_src",
    "borland",
    "reserved10",
    "clsid",
    "vc_feature",
    "pogo",
    "iltcg",
    "mpx",
    "repro",
    "embedded_portable_pdb",
    "spgo",
    "pdb_checksum",
    "ex_dll_characteristics",
];

/// Windows knows no longer ones.
const LONGEST_PATH: usize = 1 << 15;

pub(super) fn read(file: &Pe<'_>, notes: &mut Notes) -> Vec<DebugEntry> {
    let Some(directory) = file.directory(spec::DEBUG) else { return Vec::new() };
    let Some(table) = file.range(directory.rva, directory.size as usize) else {
        notes.problem(format!("the debug directory at {:#x} is not in the file", directory.rva));
        return Vec::new();
    };
    let table: &[pe::ImageDebugDirectory] = entries(table);
    let budget = &mut Budget::of_files(file.bytes(), 4);
    table.iter().map(|found| describe(file, found, budget, notes)).collect()
}

fn describe(
    file: &Pe<'_>,
    found: &pe::ImageDebugDirectory,
    budget: &mut Budget,
    notes: &mut Notes,
) -> DebugEntry {
    let kind = found.typ.get(LE).0;
    let (offset, bytes) = (found.pointer_to_raw_data.get(LE), found.size_of_data.get(LE));
    let name = KINDS.get(kind as usize).map_or_else(|| format!("type {kind}"), |&name| name.into());
    let data = file.bytes().get(offset as usize..).and_then(|rest| rest.get(..bytes as usize));
    let (build_id, pdb) = match data {
        Some(data)
            if kind == pe::IMAGE_DEBUG_TYPE_CODEVIEW.0
                && budget.take(data, "debug entries", notes) =>
        {
            code_view(data, notes)
        }
        _ => (None, None),
    };
    DebugEntry { kind: name, bytes, pdb, build_id }
}

/// What a CodeView entry says: signature with age, and path.
fn code_view(data: &[u8], notes: &mut Notes) -> (Option<String>, Option<String>) {
    let word = |at: usize| -> Option<u32> {
        data.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    };
    let half = |at: usize| -> Option<u16> {
        data.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
    };
    let (id, path) = if data.starts_with(b"RSDS") {
        let id = (|| {
            let tail = data.get(12..20)?.iter().map(|byte| format!("{byte:02X}"));
            let (a, b, c) = (word(4)?, half(8)?, half(10)?);
            Some(format!("{a:08X}{b:04X}{c:04X}{}{:X}", tail.collect::<String>(), word(20)?))
        })();
        (id, 24)
    } else if data.starts_with(b"NB10") {
        (word(8).zip(word(12)).map(|(signature, age)| format!("{signature:08X}{age:X}")), 16)
    } else {
        return (None, None);
    };
    let text = data.get(path..).unwrap_or(&[]);
    let text = text.get(..LONGEST_PATH).unwrap_or(text);
    // Tools leave the end out where the path fills the entry.
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let path = notes.text(text.get(..end).unwrap_or(&[]));
    (id, Some(path).filter(|path| !path.is_empty()))
}
