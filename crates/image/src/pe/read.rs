//! One PE file: its headers, and where in the file an address of the image is.

use super::error::PeError;
use super::spec;
use crate::notes::entry;
use object::pe;
use object::{LittleEndian as LE, U32};
use std::ffi::CStr;
use std::mem::offset_of;

/// Raw data begins and ends at a multiple of this, whatever the headers say.
pub const SECTOR: u32 = 512;
/// Names of functions are shorter: linkers from Microsoft cut at 4,096 bytes, those of GNU have been
/// seen to write 3,600. The bound keeps names that overlap from taking time without end.
const LONGEST_NAME: usize = 1 << 14;
/// Tables that loaders find by their address alone, whatever size the directory gives.
const SIZELESS: [usize; 5] =
    [spec::EXPORT, spec::IMPORT, spec::TLS, spec::LOAD_CONFIG, spec::DELAY_IMPORT];
/// Size of a page, and the least `SectionAlignment` with which sections are mapped one by one.
pub const PAGE: u32 = 4096;

/// An entry of the data directory: a table, by address and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Address relative to the base; of certificates an offset in the file.
    pub rva: u32,
    /// Bytes.
    pub size: u32,
}

/// One section, as its header states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Name as in the header, padded with zeros.
    pub name: [u8; 8],
    /// `VirtualAddress`.
    pub rva: u32,
    /// `VirtualSize`.
    pub memory_bytes: u32,
    /// `PointerToRawData`.
    pub offset: u32,
    /// `SizeOfRawData`.
    pub file_bytes: u32,
    /// `Characteristics`, `IMAGE_SCN_*`.
    pub flags: u32,
}

/// Headers of a PE file. Numbers are the file's own and unchecked.
#[derive(Clone, Debug)]
pub struct Headers {
    /// PE32+: addresses of 8 bytes.
    pub wide: bool,
    /// `IMAGE_FILE_MACHINE_*`.
    pub machine: u16,
    /// `IMAGE_FILE_*`.
    pub characteristics: u16,
    /// `TimeDateStamp`.
    pub time_stamp: u32,
    /// `AddressOfEntryPoint`.
    pub entry: u32,
    /// `ImageBase`.
    pub base: u64,
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
    pub directories: Vec<Directory>,
    /// The section table.
    pub sections: Vec<Section>,
    /// Where the header `IMAGE_NT_HEADERS` is in the file.
    pub nt_offset: usize,
    /// Where the section table is in the file.
    pub section_table: usize,
    /// `PointerToSymbolTable` and `NumberOfSymbols` of the COFF header.
    pub symbols: (u32, u32),
}

/// One PE file in memory.
#[derive(Clone, Debug)]
pub struct Pe<'a> {
    bytes: &'a [u8],
    headers: Headers,
    spans: Vec<Span>,
}

/// A part of the image that the file has bytes for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) rva: u32,
    pub(super) bytes: u32,
    pub(super) offset: u32,
}

impl Span {
    /// Its bytes in the file.
    pub(super) fn file(&self) -> std::ops::Range<usize> {
        self.offset as usize..self.offset as usize + self.bytes as usize
    }
}

impl<'a> Pe<'a> {
    /// Reads the headers of the file in `bytes`; `path` is only its name in errors.
    ///
    /// Format: *PE Format*, from *MS-DOS Stub* to *Section Table*.
    ///
    /// # Errors
    /// The bytes are not PE, or end within the headers.
    pub fn parse(path: &str, bytes: &'a [u8]) -> Result<Pe<'a>, PeError> {
        Ok(Pe::of(Headers::read(path, bytes)?, bytes))
    }

    /// A file whose headers have been read.
    pub(super) fn of(headers: Headers, bytes: &'a [u8]) -> Pe<'a> {
        let spans = spans(&headers, bytes.len());
        Pe { bytes, headers, spans }
    }

    /// The whole file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its headers.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Where in the file an address of the image is; `None` where memory is zero or nothing.
    pub fn offset(&self, rva: u32) -> Option<usize> {
        let span = self.span(rva)?;
        Some((span.offset + (rva - span.rva)) as usize)
    }

    /// The file's bytes from an address to the end of its section.
    pub fn at(&self, rva: u32) -> Option<&'a [u8]> {
        let span = self.span(rva)?;
        let start = (span.offset + (rva - span.rva)) as usize;
        self.bytes.get(start..(span.offset + span.bytes) as usize)
    }

    /// `size` bytes at an address, if the file has all of them.
    pub fn range(&self, rva: u32, size: usize) -> Option<&'a [u8]> {
        self.at(rva)?.get(..size)
    }

    /// `N` bytes of memory at an address: the file's, and zeros where a section goes on in memory
    /// alone.
    pub fn memory<const N: usize>(&self, rva: u32) -> Option<[u8; N]> {
        let rest = self.at(rva).unwrap_or(&[]);
        if let Some(bytes) = rest.first_chunk() {
            return Some(*bytes);
        }
        let section = self.section(rva)?;
        let left = section.extent() - (rva - section.rva);
        let mut bytes = [0; N];
        bytes.get_mut(..rest.len())?.copy_from_slice(rest);
        (left as usize >= N).then_some(bytes)
    }

    /// The string at an address, without its end; `None` for one of 16 KiB or more.
    pub fn string(&self, rva: u32) -> Option<&'a [u8]> {
        let rest = self.at(rva)?;
        let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
        CStr::from_bytes_until_nul(rest).ok().map(CStr::to_bytes)
    }

    /// The number at an address: 8 bytes in PE32+, else 4.
    pub fn pointer(&self, rva: u32) -> Option<u64> {
        let rest = self.at(rva)?;
        if self.headers.wide {
            rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
        } else {
            rest.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into())
        }
    }

    /// The address, relative to the base, of a virtual address.
    pub fn rva(&self, address: u64) -> Option<u32> {
        let rva = u32::try_from(address.checked_sub(self.headers.base)?).ok()?;
        (rva < self.headers.image_bytes).then_some(rva)
    }

    /// A table of the data directory (`IMAGE_DIRECTORY_ENTRY_*`), if there is one.
    pub fn directory(&self, index: usize) -> Option<Directory> {
        let directory = self.headers.directories.get(index)?;
        let sized = directory.size != 0 || SIZELESS.contains(&index);
        (directory.rva != 0 && sized).then_some(*directory)
    }

    /// The section that an address is in.
    pub fn section(&self, rva: u32) -> Option<&Section> {
        let inside = |section: &&Section| {
            rva.checked_sub(section.rva).is_some_and(|within| within < section.extent())
        };
        self.headers.sections.iter().find(inside)
    }

    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    fn span(&self, rva: u32) -> Option<&Span> {
        let next = self.spans.partition_point(|span| span.rva <= rva);
        let span = self.spans.get(next.checked_sub(1)?)?;
        (rva - span.rva < span.bytes).then_some(span)
    }
}

impl Section {
    /// Whether loaders take anything of it from the file.
    pub fn is_in_file(&self) -> bool {
        self.offset != 0 && self.file_bytes != 0
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
    /// Where in the file `TimeDateStamp` is.
    pub fn time_stamp_offset(&self) -> usize {
        let file = offset_of!(pe::ImageNtHeaders64, file_header);
        self.nt_offset + file + offset_of!(pe::ImageFileHeader, time_date_stamp)
    }

    /// Where `Characteristics` of the COFF header is.
    pub fn characteristics_offset(&self) -> usize {
        let file = offset_of!(pe::ImageNtHeaders64, file_header);
        self.nt_offset + file + offset_of!(pe::ImageFileHeader, characteristics)
    }

    /// Where in the file the image ends: the headers, and what the sections have there. Numbers are
    /// the file's own; behind it are symbols, certificates, and what others have appended.
    pub fn data_end(&self) -> u64 {
        let sections = self.sections.iter().filter(|section| section.is_in_file());
        let ends =
            sections.map(|section| u64::from(section.offset) + u64::from(section.file_bytes));
        let table = self.section_offset(self.sections.len()) as u64;
        ends.fold(table.max(self.header_bytes.into()), u64::max)
    }

    /// Where the optional header is.
    fn optional(&self) -> usize {
        self.nt_offset + offset_of!(pe::ImageNtHeaders64, optional_header)
    }

    /// Where `ImageBase` is: 8 bytes in PE32+, else 4.
    pub fn base_offset(&self) -> usize {
        self.optional()
            + match self.wide {
                true => offset_of!(pe::ImageOptionalHeader64, image_base),
                false => offset_of!(pe::ImageOptionalHeader32, image_base),
            }
    }

    /// Where `CheckSum` is; the same in both forms, as are the three that follow.
    pub fn checksum_offset(&self) -> usize {
        self.optional() + offset_of!(pe::ImageOptionalHeader64, check_sum)
    }

    /// Where `FileAlignment` is.
    pub fn file_alignment_offset(&self) -> usize {
        self.optional() + offset_of!(pe::ImageOptionalHeader64, file_alignment)
    }

    /// Where `SizeOfCode` is, and `SizeOfInitializedData` behind it; the same in both forms.
    pub fn code_bytes_offset(&self) -> usize {
        self.optional() + offset_of!(pe::ImageOptionalHeader64, size_of_code)
    }

    /// Where `SizeOfHeaders` is.
    pub fn header_bytes_offset(&self) -> usize {
        self.optional() + offset_of!(pe::ImageOptionalHeader64, size_of_headers)
    }

    /// Where `DllCharacteristics` is.
    pub fn dll_characteristics_offset(&self) -> usize {
        self.optional() + offset_of!(pe::ImageOptionalHeader64, dll_characteristics)
    }

    /// Where an entry of the data directory is.
    pub fn directory_offset(&self, index: usize) -> usize {
        let table = match self.wide {
            true => size_of::<pe::ImageOptionalHeader64>(),
            false => size_of::<pe::ImageOptionalHeader32>(),
        };
        self.optional() + table + index * size_of::<pe::ImageDataDirectory>()
    }

    /// Where the header of a section is.
    pub fn section_offset(&self, index: usize) -> usize {
        self.section_table + index * size_of::<pe::ImageSectionHeader>()
    }

    /// Where a section's `SizeOfRawData` is, and `PointerToRawData` behind it.
    pub fn section_data_offset(&self, index: usize) -> usize {
        self.section_offset(index) + offset_of!(pe::ImageSectionHeader, size_of_raw_data)
    }

    pub(super) fn read(path: &str, bytes: &[u8]) -> Result<Headers, PeError> {
        let short = || PeError::truncated(path, bytes.len());
        if !crate::is_pe(bytes) {
            return Err(PeError::not_pe(path, bytes));
        }
        let dos: &pe::ImageDosHeader = entry(bytes).ok_or_else(short)?;
        let nt_offset = dos.e_lfanew.get(LE) as usize;
        let nt = bytes.get(nt_offset..).ok_or_else(|| PeError::dos(path))?;
        if !nt.starts_with(b"PE\0\0") {
            return Err(PeError::dos(path));
        }
        let file: &pe::ImageFileHeader = nt.get(4..).and_then(entry).ok_or_else(short)?;
        let optional = nt.get(24..).ok_or_else(short)?;
        let magic = optional.first_chunk().map(|magic| u16::from_le_bytes(*magic));
        let mut headers = match magic.ok_or_else(short)? {
            0x10b => Headers::of_32(entry(optional).ok_or_else(short)?),
            0x20b => Headers::of_64(entry(optional).ok_or_else(short)?),
            magic => return Err(PeError::magic(path, magic)),
        };
        headers.nt_offset = nt_offset;
        headers.machine = file.machine.get(LE).0;
        headers.characteristics = file.characteristics.get(LE).0;
        headers.time_stamp = file.time_date_stamp.get(LE);
        headers.symbols = (file.pointer_to_symbol_table.get(LE), file.number_of_symbols.get(LE));
        let optional_bytes = usize::from(file.size_of_optional_header.get(LE));
        headers.read_directories(bytes, optional_bytes);
        headers.section_table = nt_offset + 24 + optional_bytes;
        let count = usize::from(file.number_of_sections.get(LE));
        headers.sections = sections(bytes, headers.section_table, count).ok_or_else(short)?;
        Ok(headers)
    }

    /// The entries within the optional header; `directories` has as many as it claims to have.
    fn read_directories(&mut self, bytes: &[u8], optional_bytes: usize) {
        let start = self.directory_offset(0);
        let end = self.nt_offset.saturating_add(24).saturating_add(optional_bytes);
        let table = bytes.get(start..end.min(bytes.len())).unwrap_or(&[]);
        let entries = table.chunks_exact(size_of::<pe::ImageDataDirectory>());
        let directories = entries.filter_map(|bytes| {
            let entry: &pe::ImageDataDirectory = entry(bytes)?;
            Some(Directory { rva: entry.virtual_address.get(LE), size: entry.size.get(LE) })
        });
        let claimed = self.directories.len();
        self.directories = directories.take(claimed).collect();
    }
}

/// The fields that both forms of the optional header have.
macro_rules! headers_of {
    ($name:ident, $type:ty, $wide:literal) => {
        impl Headers {
            fn $name(optional: &$type) -> Headers {
                let claimed = optional.number_of_rva_and_sizes.get(LE).min(16) as usize;
                Headers {
                    wide: $wide,
                    machine: 0,
                    characteristics: 0,
                    time_stamp: 0,
                    entry: optional.address_of_entry_point.get(LE),
                    base: optional.image_base.get(LE).into(),
                    section_alignment: optional.section_alignment.get(LE),
                    file_alignment: optional.file_alignment.get(LE),
                    image_bytes: optional.size_of_image.get(LE),
                    header_bytes: optional.size_of_headers.get(LE),
                    checksum: optional.check_sum.get(LE),
                    subsystem: optional.subsystem.get(LE).0,
                    dll_characteristics: optional.dll_characteristics.get(LE).0,
                    directories: vec![Directory { rva: 0, size: 0 }; claimed],
                    sections: Vec::new(),
                    nt_offset: 0,
                    section_table: 0,
                    symbols: (0, 0),
                }
            }
        }
    };
}

headers_of!(of_32, pe::ImageOptionalHeader32, false);
headers_of!(of_64, pe::ImageOptionalHeader64, true);

fn sections(bytes: &[u8], table: usize, count: usize) -> Option<Vec<Section>> {
    let size = size_of::<pe::ImageSectionHeader>();
    let headers = bytes.get(table..table.checked_add(count * size)?)?;
    let number = |field: &U32<LE>| field.get(LE);
    let sections = headers.chunks_exact(size).filter_map(|bytes| {
        let header: &pe::ImageSectionHeader = entry(bytes)?;
        Some(Section {
            name: header.name,
            rva: number(&header.virtual_address),
            memory_bytes: number(&header.virtual_size),
            offset: number(&header.pointer_to_raw_data),
            file_bytes: number(&header.size_of_raw_data),
            flags: header.characteristics.get(LE).0,
        })
    });
    Some(sections.collect())
}

/// Which parts of memory the loader fills from which parts of the file, by address. Where two
/// overlap, no address is in more than one of them.
fn spans(headers: &Headers, file_bytes: usize) -> Vec<Span> {
    let file = u32::try_from(file_bytes).unwrap_or(u32::MAX);
    let first = headers.sections.iter().map(|section| section.rva).min().unwrap_or(u32::MAX);
    // An image with sections closer than pages is mapped as one piece, as it is in the file.
    let flat = headers.section_alignment < PAGE;
    let start = if flat { file } else { headers.header_bytes.min(first).min(file) };
    let mut spans = vec![Span { rva: 0, bytes: start, offset: 0 }];
    if flat {
        return spans;
    }
    for section in &headers.sections {
        let within = section.offset % SECTOR;
        let offset = section.offset - within;
        let memory = section.extent().checked_next_multiple_of(PAGE).unwrap_or(u32::MAX);
        let sectors = section.file_bytes.checked_add(within);
        let sectors = sectors.and_then(|bytes| bytes.checked_next_multiple_of(SECTOR));
        let bytes = sectors.unwrap_or(u32::MAX).min(memory).min(file.saturating_sub(offset));
        if section.is_in_file() && bytes > 0 && section.rva.checked_add(bytes).is_some() {
            spans.push(Span { rva: section.rva, bytes, offset });
        }
    }
    spans.sort_by_key(|span| span.rva);
    for index in 1..spans.len() {
        let next = spans[index].rva;
        let before = &mut spans[index - 1];
        before.bytes = before.bytes.min(next - before.rva);
    }
    spans
}
