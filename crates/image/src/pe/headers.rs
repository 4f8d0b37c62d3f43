//! The headers of a PE file. Numbers are the file's own and unchecked.
//!
//! Format: *PE Format*, from *MS-DOS Stub* to *Section Table*.

use crate::error::{self, ImageError};
use crate::notes::{entries, entry};
use model::{FileOffset, Rva, Va};
use object::LittleEndian as LE;
use object::pe;
use std::mem::offset_of;

/// Where the optional header is, from the signature on; the same in both forms.
pub(crate) const OPTIONAL: usize = offset_of!(pe::ImageNtHeaders64, optional_header);

/// An entry of the data directory: a table, by address and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataDirectory {
    /// Its address; of certificates the number is an offset in the file.
    pub rva: Rva,
    /// Bytes.
    pub size: u32,
}

impl DataDirectory {
    /// No table.
    pub const EMPTY: DataDirectory = DataDirectory { rva: Rva(0), size: 0 };

    /// Whether there is no table, as data directories say it.
    pub fn is_empty(&self) -> bool {
        self.rva == Rva(0) || self.size == 0
    }
}

/// One section, as its header states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionHeader {
    /// Name as in the header, padded with zeros.
    pub name: [u8; 8],
    /// `VirtualAddress`.
    pub rva: Rva,
    /// `VirtualSize`.
    pub memory_bytes: u32,
    /// `PointerToRawData`.
    pub offset: FileOffset,
    /// `SizeOfRawData`.
    pub file_bytes: u32,
    /// `Characteristics`, `IMAGE_SCN_*`.
    pub flags: u32,
}

/// Headers of a PE file. Numbers are the file's own and unchecked.
#[derive(Clone, Debug)]
pub struct Headers {
    /// PE32+, with addresses of 8 bytes; else PE32.
    pub pe32_plus: bool,
    /// `IMAGE_FILE_MACHINE_*`.
    pub machine: u16,
    /// `IMAGE_FILE_*`.
    pub characteristics: u16,
    /// `TimeDateStamp`.
    pub time_stamp: u32,
    /// `AddressOfEntryPoint`.
    pub entry: Rva,
    /// `ImageBase`.
    pub base: Va,
    /// `SectionAlignment`.
    pub section_alignment: u32,
    /// `FileAlignment`.
    pub file_alignment: u32,
    /// `SizeOfImage`.
    pub image_bytes: u32,
    /// `SizeOfHeaders`.
    pub header_bytes: u32,
    /// `CheckSum`.
    pub checksum: u32,
    /// `IMAGE_SUBSYSTEM_*`.
    pub subsystem: u16,
    /// `IMAGE_DLLCHARACTERISTICS_*`.
    pub dll_characteristics: u16,
    /// The data directory, at most 16 entries.
    pub directories: Vec<DataDirectory>,
    /// The section table.
    pub sections: Vec<SectionHeader>,
    /// Where the header `IMAGE_NT_HEADERS` is in the file.
    pub nt_offset: FileOffset,
    /// Where the section table is in the file.
    pub section_table: FileOffset,
    /// The COFF symbols, if there are any.
    pub symbols: Option<SymbolTable>,
}

/// Where the COFF symbols are, as the COFF header states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolTable {
    /// `PointerToSymbolTable`.
    pub offset: FileOffset,
    /// `NumberOfSymbols`.
    pub count: u32,
}

impl SectionHeader {
    fn of(header: &pe::ImageSectionHeader) -> SectionHeader {
        SectionHeader {
            name: header.name,
            rva: Rva(header.virtual_address.get(LE)),
            memory_bytes: header.virtual_size.get(LE),
            offset: FileOffset(header.pointer_to_raw_data.get(LE).into()),
            file_bytes: header.size_of_raw_data.get(LE),
            flags: header.characteristics.get(LE).0,
        }
    }

    /// Whether loaders take anything of it from the file.
    pub fn is_in_file(&self) -> bool {
        self.offset != FileOffset(0) && self.file_bytes != 0
    }

    /// Bytes that it takes in memory: those of the file where no other number is given.
    pub fn extent(&self) -> u32 {
        if self.memory_bytes == 0 { self.file_bytes } else { self.memory_bytes }
    }

    /// Its name, cut at the first zero.
    pub fn short_name(&self) -> &[u8] {
        self.name.split(|&byte| byte == 0).next().unwrap_or_default()
    }
}

impl Headers {
    /// Where in the file the image ends: the headers, and what the sections have there. Numbers are
    /// the file's own; behind it are symbols, certificates, and what others have appended.
    pub fn data_end(&self) -> FileOffset {
        let sections = self.sections.iter().filter(|section| section.is_in_file());
        let ends = sections.map(|section| section.offset + u64::from(section.file_bytes));
        let table = self.section_offset(self.sections.len());
        ends.fold(table.max(FileOffset(self.header_bytes.into())), FileOffset::max)
    }

    /// Reads the headers; bytes behind them need not be there. `path` is only its name in errors.
    ///
    /// # Errors
    /// The bytes are not PE, or end within the headers.
    pub fn read(path: &str, bytes: &[u8]) -> Result<Headers, ImageError> {
        if !crate::is_pe(bytes) {
            return Err(ImageError::unrecognized(path, bytes, &error::PE));
        }
        let dos: Option<&pe::ImageDosHeader> = entry(bytes);
        let dos = dos.ok_or_else(|| truncated(path, bytes.len()))?;
        let nt_offset = dos.e_lfanew.get(LE) as usize;
        let nt = bytes.get(nt_offset..).filter(|nt| nt.starts_with(b"PE\0\0"));
        let nt = nt.ok_or_else(|| ImageError::Unrecognized {
            path: path.to_owned(),
            expected: error::PE.not,
            found: "it begins with MZ, but there is no PE header; it is a program for DOS or \
                    16-bit Windows, or damaged"
                .to_owned(),
        })?;
        Headers::at(path, nt, FileOffset::at(nt_offset))
    }

    /// The headers from the signature on, which is at `nt_offset` of the file.
    ///
    /// # Errors
    /// The bytes end within the headers.
    pub(crate) fn at(path: &str, nt: &[u8], nt_offset: FileOffset) -> Result<Headers, ImageError> {
        let short = || truncated(path, nt_offset.index().saturating_add(nt.len()));
        let file: &pe::ImageFileHeader = nt.get(4..).and_then(entry).ok_or_else(short)?;
        let optional = nt.get(OPTIONAL..).ok_or_else(short)?;
        let magic = optional.first_chunk().map(|magic| u16::from_le_bytes(*magic));
        let mut headers = match magic.ok_or_else(short)? {
            0x10b => Headers::of_32(entry(optional).ok_or_else(short)?),
            0x20b => Headers::of_64(entry(optional).ok_or_else(short)?),
            magic => return Err(ImageError::OptionalHeader { path: path.to_owned(), magic }),
        };
        headers.nt_offset = nt_offset;
        headers.machine = file.machine.get(LE).0;
        headers.characteristics = file.characteristics.get(LE).0;
        headers.time_stamp = file.time_date_stamp.get(LE);
        let symbols = file.pointer_to_symbol_table.get(LE);
        headers.symbols = (symbols != 0).then(|| SymbolTable {
            offset: FileOffset(symbols.into()),
            count: file.number_of_symbols.get(LE),
        });
        let table = OPTIONAL + usize::from(file.size_of_optional_header.get(LE));
        headers.read_directories(nt.get(..table).unwrap_or(nt));
        headers.section_table = nt_offset + table as u64;
        let sections = nt.get(table..).map(entries::<pe::ImageSectionHeader>);
        let count = usize::from(file.number_of_sections.get(LE));
        let sections = sections.and_then(|sections| sections.get(..count)).ok_or_else(short)?;
        headers.sections = sections.iter().map(SectionHeader::of).collect();
        Ok(headers)
    }

    /// The entries within the optional header, with which `nt` ends; `directories` has as many as
    /// it claims to have.
    fn read_directories(&mut self, nt: &[u8]) {
        let start = (self.directory_offset(0) - self.nt_offset) as usize;
        let table: &[pe::ImageDataDirectory] = entries(nt.get(start..).unwrap_or(&[]));
        self.directories.truncate(table.len());
        for (directory, found) in self.directories.iter_mut().zip(table) {
            let (rva, size) = (Rva(found.virtual_address.get(LE)), found.size.get(LE));
            *directory = DataDirectory { rva, size };
        }
    }
}

fn truncated(path: &str, bytes: usize) -> ImageError {
    ImageError::Truncated { path: path.to_owned(), format: "PE", bytes }
}

/// The fields that both forms of the optional header have.
macro_rules! headers_of {
    ($name:ident, $type:ty, $pe32_plus:literal) => {
        impl Headers {
            fn $name(optional: &$type) -> Headers {
                let claimed = optional.number_of_rva_and_sizes.get(LE).min(16) as usize;
                Headers {
                    pe32_plus: $pe32_plus,
                    machine: 0,
                    characteristics: 0,
                    time_stamp: 0,
                    entry: Rva(optional.address_of_entry_point.get(LE)),
                    base: Va(optional.image_base.get(LE).into()),
                    section_alignment: optional.section_alignment.get(LE),
                    file_alignment: optional.file_alignment.get(LE),
                    image_bytes: optional.size_of_image.get(LE),
                    header_bytes: optional.size_of_headers.get(LE),
                    checksum: optional.check_sum.get(LE),
                    subsystem: optional.subsystem.get(LE).0,
                    dll_characteristics: optional.dll_characteristics.get(LE).0,
                    directories: vec![DataDirectory::EMPTY; claimed],
                    sections: Vec::new(),
                    nt_offset: FileOffset(0),
                    section_table: FileOffset(0),
                    symbols: None,
                }
            }
        }
    };
}

headers_of!(of_32, pe::ImageOptionalHeader32, false);
headers_of!(of_64, pe::ImageOptionalHeader64, true);
