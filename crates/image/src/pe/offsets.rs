//! The fields of an image that hold places in the file, besides those of its sections and
//! certificates. Whoever moves data has to change them.
//!
//! Format: *COFF File Header*, *Section Table*, *COFF Symbol Table*, *COFF String Table* and
//! *Debug Directory*.

use super::read::Pe;
use super::spec;
use crate::notes::entries;
use object::LittleEndian as LE;
use object::pe;
use std::mem::offset_of;
use std::ops::Range;

/// Bytes of a symbol in the COFF symbol table.
pub(super) const SYMBOL: u64 = 18;
/// Bytes of a COFF relocation and a COFF line number.
const RELOCATION: u64 = 10;
const LINE_NUMBER: u64 = 6;

/// A field that holds a place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetField {
    /// Where in the file the field is: 4 bytes.
    pub at: usize,
    /// Which part of the file it points to; not checked against the file's length.
    pub data: Range<u64>,
    /// What that is, in words.
    pub what: &'static str,
}

impl Pe<'_> {
    /// All such fields that point to something.
    pub fn offset_fields(&self) -> Vec<OffsetField> {
        let mut fields: Vec<OffsetField> = self.symbol_field().into_iter().collect();
        for index in 0..self.headers().sections.len() {
            fields.extend(self.section_fields(index));
        }
        fields.extend(self.debug_fields());
        fields
    }

    /// The symbols, and the strings behind them.
    fn symbol_field(&self) -> Option<OffsetField> {
        let (start, count) = self.headers().symbols;
        if start == 0 {
            return None;
        }
        let symbols_end = u64::from(start) + u64::from(count) * SYMBOL;
        let strings = usize::try_from(symbols_end).ok().and_then(|end| self.bytes().get(end..));
        let bytes = strings.and_then(<[u8]>::first_chunk).map_or(0, |size| {
            // The size counts itself.
            u64::from(u32::from_le_bytes(*size))
        });
        let end = (symbols_end + bytes).min((self.bytes().len() as u64).max(symbols_end));
        let file = offset_of!(pe::ImageNtHeaders64, file_header);
        let at = file + offset_of!(pe::ImageFileHeader, pointer_to_symbol_table);
        let at = self.headers().nt_offset + at;
        Some(OffsetField { at, data: start.into()..end, what: "COFF symbols" })
    }

    /// Relocations and line numbers, which objects have and images rarely.
    fn section_fields(&self, index: usize) -> Vec<OffsetField> {
        let start = self.headers().section_offset(index);
        let header = self.bytes().get(start..).unwrap_or(&[]);
        let Some(header) = crate::notes::entry::<pe::ImageSectionHeader>(header) else {
            return Vec::new();
        };
        let field = |offset: usize, pointer: u32, count: u16, size: u64, what: &'static str| {
            let data = u64::from(pointer)..u64::from(pointer) + u64::from(count) * size;
            (pointer != 0 && count != 0).then_some(OffsetField { at: start + offset, data, what })
        };
        let relocations = field(
            offset_of!(pe::ImageSectionHeader, pointer_to_relocations),
            header.pointer_to_relocations.get(LE),
            header.number_of_relocations.get(LE),
            RELOCATION,
            "COFF relocations",
        );
        let lines = field(
            offset_of!(pe::ImageSectionHeader, pointer_to_linenumbers),
            header.pointer_to_linenumbers.get(LE),
            header.number_of_linenumbers.get(LE),
            LINE_NUMBER,
            "COFF line numbers",
        );
        relocations.into_iter().chain(lines).collect()
    }

    /// What the debug directory points to.
    fn debug_fields(&self) -> Vec<OffsetField> {
        let directory = self.directory(spec::DEBUG);
        let Some(table) = directory.and_then(|found| self.range(found.rva, found.size as usize))
        else {
            return Vec::new();
        };
        let start = directory.and_then(|found| self.offset(found.rva)).unwrap_or_default();
        let table: &[pe::ImageDebugDirectory] = entries(table);
        let fields = table.iter().enumerate().map(|(index, entry)| {
            let offset = offset_of!(pe::ImageDebugDirectory, pointer_to_raw_data);
            let at = start + index * size_of::<pe::ImageDebugDirectory>() + offset;
            let data = u64::from(entry.pointer_to_raw_data.get(LE));
            let data = data..data + u64::from(entry.size_of_data.get(LE));
            OffsetField { at, data, what: "debug data" }
        });
        fields.filter(|field| field.data.start != 0 && !field.data.is_empty()).collect()
    }
}
