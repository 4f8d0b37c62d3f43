//! The check at the end: what a loader puts into memory is what it was.

use image::pe::Pe;
use model::Rva;

/// Compares the memory of two images, the second of which is a realigned copy of the first.
pub(super) fn same_memory(old: &Pe<'_>, new: &Pe<'_>) -> Result<(), String> {
    let table_end = old.headers().section_offset(old.headers().sections.len()).index();
    let behind_table = |file: &Pe<'_>| -> Option<Vec<u8>> {
        Some(trimmed(file.at(Rva(0))?.get(table_end..).unwrap_or(&[])).to_vec())
    };
    let sections = old.headers().sections.iter().zip(&new.headers().sections);
    let mut rvas = sections.map(|(old, new)| (old.rva == new.rva).then_some(old.rva));
    let same = behind_table(old) == behind_table(new)
        && rvas.all(|rva| rva.is_some_and(|rva| memory(old, rva) == memory(new, rva)));
    if same {
        return Ok(());
    }
    Err("its contents in memory would change; headstart does not support this layout".to_owned())
}

/// A section's memory without the zeros at its end, which need no place in the file.
fn memory<'a>(file: &Pe<'a>, rva: Rva) -> &'a [u8] {
    trimmed(file.at(rva).unwrap_or(&[]))
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or(&[])
}
