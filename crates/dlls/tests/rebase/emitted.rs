//! Small images, emitted field by field.

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
        let mut file = vec![0; RELOC_OFFSET];
        file.extend(&self.table);
        file.resize(file.len().next_multiple_of(512), 0);
        let nt = 0x80;
        file[..2].copy_from_slice(b"MZ");
        put32(&mut file, 0x3c, nt as u32);
        file[nt..nt + 4].copy_from_slice(b"PE\0\0");
        put16(&mut file, nt + 4, self.machine);
        put16(&mut file, nt + 6, 4);
        put32(&mut file, nt + 8, self.time_stamp);
        let optional_bytes: usize = if self.wide { 240 } else { 224 };
        put16(&mut file, nt + 20, optional_bytes as u16);
        put16(&mut file, nt + 22, self.characteristics);
        let optional = nt + 24;
        self.put_optional(&mut file, optional);
        let mut at = optional + optional_bytes;
        let table = self.table.len() as u32;
        let sections: [(&[u8], u32, u32, usize, u32); 4] = [
            (b".data", 0x2000, DATA, DATA_OFFSET, 0x2000),
            (b".more", 0x2000, MORE, MORE_OFFSET, 0x2000),
            (b".bss", 0x1000, BSS, 0, 0),
            (b".reloc", table.max(1), RELOC, RELOC_OFFSET, table.next_multiple_of(512)),
        ];
        for (name, memory, rva, offset, bytes) in sections {
            file[at..at + name.len()].copy_from_slice(name);
            put32(&mut file, at + 8, memory);
            put32(&mut file, at + 12, rva);
            put32(&mut file, at + 16, bytes);
            put32(&mut file, at + 20, offset as u32);
            put32(&mut file, at + 36, 0xc000_0040);
            at += 40;
        }
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

    fn put_optional(&self, file: &mut [u8], at: usize) {
        put16(file, at, if self.wide { 0x20b } else { 0x10b });
        match self.wide {
            true => file[at + 24..at + 32].copy_from_slice(&self.base.to_le_bytes()),
            false => put32(file, at + 28, self.base as u32),
        }
        put32(file, at + 32, 0x1000);
        put32(file, at + 36, 0x200);
        let end = RELOC as usize + self.table.len().max(1).next_multiple_of(0x1000);
        put32(file, at + 56, end as u32);
        put32(file, at + 60, HEADERS as u32);
        put16(file, at + 68, 3);
        let directories = at + if self.wide { 112 } else { 96 };
        put32(file, directories - 4, 16);
        let table = (5, RELOC, self.table.len() as u32);
        let own = (!self.table.is_empty()).then_some(table);
        for (index, rva, size) in self.directories.iter().copied().chain(own) {
            put32(file, directories + index * 8, rva);
            put32(file, directories + index * 8 + 4, size);
        }
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

fn put16(file: &mut [u8], at: usize, value: u16) {
    file[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

pub fn put32(file: &mut [u8], at: usize, value: u32) {
    file[at..at + 4].copy_from_slice(&value.to_le_bytes());
}
