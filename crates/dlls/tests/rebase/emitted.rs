//! Small images, emitted field by field.

use image::pe::{DataDirectory, Headers, SectionHeader, spec};
use model::{FileOffset, Rva, Va};

pub const AMD64: u16 = 0x8664;
pub const I386: u16 = 0x14c;
pub const ARMNT: u16 = 0x1c4;

pub const ABSOLUTE: u8 = 0;
pub const HIGH: u8 = 1;
pub const LOW: u8 = 2;
pub const HIGHLOW: u8 = 3;
pub const HIGHADJ: u8 = 4;
pub const ARM_MOV32: u8 = 5;
pub const THUMB_MOV32: u8 = 7;
pub const DIR64: u8 = 10;

/// `.data` is two pages at 0x1000, and `.more` two pages behind it, which are elsewhere in the
/// file; `.bss` has no bytes in the file; `.reloc` is the last.
pub const DATA: u32 = 0x1000;
pub const MORE: u32 = 0x3000;
pub const BSS: u32 = 0x5000;
pub const RELOC: u32 = 0x6000;
const HEADERS: usize = 0x400;
const DATA_OFFSET: usize = HEADERS + 0x2000;
const MORE_OFFSET: usize = HEADERS;
const RELOC_OFFSET: usize = HEADERS + 0x4000;

/// An image to be emitted.
#[derive(Clone, Debug)]
pub struct Emitted {
    pub machine: u16,
    pub wide: bool,
    pub base: u64,
    pub time_stamp: u32,
    /// `IMAGE_FILE_*`.
    pub characteristics: u16,
    /// The two pages of `.data`, then those of `.more`.
    pub data: Vec<u8>,
    /// The relocation table.
    pub table: Vec<u8>,
    /// Entries of the data directory besides that of the table.
    pub directories: Vec<(usize, u32, u32)>,
    /// `CheckSum` is right; else it is 0.
    pub checksum: bool,
}

impl Emitted {
    pub fn new(machine: u16, wide: bool, table: Vec<u8>) -> Emitted {
        let base = if wide { 0x1_8000_0000 } else { 0x1000_0000 };
        let data = (0..0x4000_u32).map(|n| (n.wrapping_mul(2654435761) >> 23) as u8).collect();
        Emitted {
            machine,
            wide,
            base,
            time_stamp: 0x1234_5678,
            characteristics: 0x2022,
            data,
            table,
            directories: Vec::new(),
            checksum: true,
        }
    }

    /// Writes into the two sections.
    pub fn put(&mut self, rva: u32, bytes: &[u8]) {
        let at = (rva - DATA) as usize;
        self.data[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut file = self.headers().bytes();
        file.resize(RELOC_OFFSET, 0);
        file.extend(&self.table);
        file.resize(file.len().next_multiple_of(512), 0);
        let (data, more) = self.data.split_at(0x2000);
        file[DATA_OFFSET..DATA_OFFSET + 0x2000].copy_from_slice(data);
        file[MORE_OFFSET..MORE_OFFSET + 0x2000].copy_from_slice(more);
        if self.checksum {
            let pe = image::pe::Pe::parse("emitted", &file).unwrap();
            let (at, sum) = (pe.headers().checksum_offset().index(), pe.computed_checksum());
            put32(&mut file, at, sum);
        }
        file
    }

    fn headers(&self) -> Headers {
        let mut headers = Headers::new(self.machine, self.wide);
        headers.time_stamp = self.time_stamp;
        headers.characteristics = self.characteristics;
        headers.base = Va(self.base);
        let table = self.table.len() as u32;
        headers.image_bytes = RELOC + table.max(1).next_multiple_of(0x1000);
        headers.header_bytes = HEADERS as u32;
        let own = (!self.table.is_empty()).then_some((spec::BASERELOC, RELOC, table));
        for (index, rva, size) in self.directories.iter().copied().chain(own) {
            headers.directories[index] = DataDirectory { rva: Rva(rva), size };
        }
        let section = |name, rva, memory_bytes, offset, file_bytes| SectionHeader {
            name,
            rva: Rva(rva),
            memory_bytes,
            offset: FileOffset::at(offset),
            file_bytes,
            flags: 0xc000_0040,
        };
        let room = table.next_multiple_of(512);
        headers.sections = vec![
            section(*b".data\0\0\0", DATA, 0x2000, DATA_OFFSET, 0x2000),
            section(*b".more\0\0\0", MORE, 0x2000, MORE_OFFSET, 0x2000),
            section(*b".bss\0\0\0\0", BSS, 0x1000, 0, 0),
            section(*b".reloc\0\0", RELOC, table.max(1), RELOC_OFFSET, room),
        ];
        headers
    }
}

/// A block of a relocation table.
pub fn block(page: u32, entries: &[u16]) -> Vec<u8> {
    let mut bytes = page.to_le_bytes().to_vec();
    bytes.extend((8 + 2 * entries.len() as u32).to_le_bytes());
    bytes.extend(entries.iter().flat_map(|entry| entry.to_le_bytes()));
    bytes
}

/// An entry of a block.
pub fn entry(kind: u8, offset: u32) -> u16 {
    u16::from(kind) << 12 | offset as u16
}

pub fn put32(file: &mut [u8], at: usize, value: u32) {
    file[at..at + 4].copy_from_slice(&value.to_le_bytes());
}
