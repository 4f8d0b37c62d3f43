//! The fields of an image that hold places in the file, besides those of its sections and
//! certificates. Whoever moves data has to change them.
//!
//! Format: *COFF File Header*, *Section Table*, *COFF Symbol Table*, *COFF String Table* and
//! *Debug Directory*.

use super::headers::SymbolTable;
use super::read::Pe;
use super::spec;
use crate::notes::entries;
use model::FileOffset;
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
    pub at: FileOffset,
    /// Which part of the file it points to; not checked against the file's length.
    pub data: Range<FileOffset>,
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
        let SymbolTable { offset: start, count } = self.headers().symbols?;
        let symbols_end = start + u64::from(count) * SYMBOL;
        let strings = self.bytes().get(symbols_end.index()..);
        let bytes = strings.and_then(<[u8]>::first_chunk).map_or(0, |size| {
            // The size counts itself.
            u64::from(u32::from_le_bytes(*size))
        });
        let end = (symbols_end + bytes).min(FileOffset::at(self.bytes().len()).max(symbols_end));
        let file = offset_of!(pe::ImageNtHeaders64, file_header);
        let field = file + offset_of!(pe::ImageFileHeader, pointer_to_symbol_table);
        let at = self.headers().nt_offset + field as u64;
        Some(OffsetField { at, data: start..end, what: "COFF symbols" })
    }

    /// Relocations and line numbers, which objects have and images rarely.
    fn section_fields(&self, index: usize) -> Vec<OffsetField> {
        let start = self.headers().section_offset(index);
        let header = self.bytes().get(start.index()..).unwrap_or(&[]);
        let Some(header) = crate::notes::entry::<pe::ImageSectionHeader>(header) else {
            return Vec::new();
        };
        let field = |offset: usize, pointer: u32, count: u16, size: u64, what: &'static str| {
            let data = FileOffset(pointer.into());
            let data = data..data + u64::from(count) * size;
            let at = start + offset as u64;
            (pointer != 0 && count != 0).then_some(OffsetField { at, data, what })
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
            let field = index * size_of::<pe::ImageDebugDirectory>() + offset;
            let at = start + field as u64;
            let data = FileOffset(entry.pointer_to_raw_data.get(LE).into());
            let data = data..data + u64::from(entry.size_of_data.get(LE));
            OffsetField { at, data, what: "debug data" }
        });
        fields.filter(|field| field.data.start != FileOffset(0) && !field.data.is_empty()).collect()
    }
}
