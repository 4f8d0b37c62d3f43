//! The COFF symbols of a PE file, which linkers of GNU write and Microsoft's do not.
//!
//! Format: *PE Format*, *COFF Symbol Table*.

use super::headers::SectionHeader;
use super::read::Pe;
use crate::notes::entries;
use model::Rva;
use object::LittleEndian as LE;
use object::pe::{
    IMAGE_SYM_CLASS_EXTERNAL, IMAGE_SYM_CLASS_STATIC, IMAGE_SYM_CLASS_WEAK_EXTERNAL,
    IMAGE_SYM_DTYPE_FUNCTION, ImageSymbol,
};
use std::sync::Arc;

/// No name is longer.
const LONGEST_NAME: usize = 1 << 14;

/// A symbol of a PE image, by its own table or its PDB file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeSymbol {
    /// Its name.
    pub name: Vec<u8>,
    /// Whether the name is the readable one only: the linker knows another.
    pub is_readable: bool,
    /// Where it is.
    pub rva: Rva,
    /// Its size, where the table tells.
    pub bytes: Option<u32>,
    /// The section of the image.
    pub section: Vec<u8>,
    /// The object file, where the table tells.
    pub object: Option<Arc<[u8]>>,
    /// Whether it is a function.
    pub is_function: bool,
    /// Whether other object files can refer to it.
    pub is_public: bool,
}

/// The COFF symbols of a file that have an address; none where it has no table, or one that is not
/// wholly in the file.
pub fn symbols(file: &Pe<'_>) -> Vec<PeSymbol> {
    let Some(table) = file.headers().symbols else { return Vec::new() };
    let size = table.count as usize * size_of::<ImageSymbol>();
    let Some(rest) = file.bytes().get(table.offset.index()..) else { return Vec::new() };
    let Some((records, strings)) = rest.split_at_checked(size) else { return Vec::new() };
    let records: &[ImageSymbol] = entries(records);
    let mut found = Vec::new();
    let mut next = 0;
    // Names that overlap would take memory without end.
    let mut left = file.bytes().len();
    while let Some(record) = records.get(next) {
        next += 1 + usize::from(record.number_of_aux_symbols);
        let Some(symbol) = symbol(file, record, strings) else { continue };
        let Some(rest) = left.checked_sub(symbol.name.len()) else { break };
        left = rest;
        found.push(symbol);
    }
    found
}

fn symbol(file: &Pe<'_>, record: &ImageSymbol, strings: &[u8]) -> Option<PeSymbol> {
    let class = record.storage_class;
    let is_public = matches!(class, IMAGE_SYM_CLASS_EXTERNAL | IMAGE_SYM_CLASS_WEAK_EXTERNAL);
    let is_static = class == IMAGE_SYM_CLASS_STATIC;
    let is_function = record.typ.get(LE).derived_type() == IMAGE_SYM_DTYPE_FUNCTION;
    // Counted from 1; 0 and below are numbers rather than places.
    let index = usize::from(record.section_number.get(LE)).checked_sub(1)?;
    let section: &SectionHeader = file.headers().sections.get(index)?;
    let rva = section.rva.checked_add(record.value.get(LE))?;
    let name = name(record, strings)?;
    // Such a symbol stands for a section of an object file.
    let is_section = is_static && !is_function && name.starts_with(b".");
    if is_section || !(is_public || is_static) {
        return None;
    }
    Some(PeSymbol {
        name: name.to_vec(),
        is_readable: false,
        rva,
        bytes: None,
        section: section.short_name().to_vec(),
        object: None,
        is_function,
        is_public,
    })
}

/// A name of up to eight bytes stands in the record; others in the table of strings.
fn name<'a>(record: &'a ImageSymbol, strings: &'a [u8]) -> Option<&'a [u8]> {
    let bytes = match record.name {
        [0, 0, 0, 0, offset @ ..] => strings.get(u32::from_le_bytes(offset) as usize..)?,
        _ => &record.name,
    };
    let name = bytes.get(..LONGEST_NAME).unwrap_or(bytes).split(|&byte| byte == 0).next()?;
    (!name.is_empty()).then_some(name)
}
