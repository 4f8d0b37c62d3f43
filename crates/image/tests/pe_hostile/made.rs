//! PE32+ images of one section, made by hand to hold what no linker writes.

use image::pe::Pe;

pub const PAGE: usize = 4096;
/// Where tests put their tables: in the section, behind its first half page.
pub const AT: u32 = 0x1800;
const RVA: u32 = 0x1000;
const BASE: u64 = 0x1_8000_0000;
const NT: usize = 64;
const OPTIONAL: usize = NT + 24;
const SECTIONS: usize = OPTIONAL + 240;
const SECTION: usize = 40;

/// An image that grows.
pub struct Made {
    bytes: Vec<u8>,
    /// Where in the file the section is.
    data: usize,
}

impl Made {
    /// An image with one section of that size.
    pub fn new(section_bytes: usize) -> Made {
        Made::with_sections(section_bytes, 1)
    }

    /// The first section is of that size and readable; the others are code of one page, far away.
    pub fn with_sections(section_bytes: usize, sections: usize) -> Made {
        let data = (SECTIONS + SECTION * sections).next_multiple_of(512);
        let mut made = Made { bytes: vec![0; data + section_bytes], data };
        let image = RVA as usize + section_bytes.next_multiple_of(PAGE);
        made.put(0, b"MZ");
        made.put_u32(60, NT as u32);
        made.put(NT, b"PE\0\0");
        made.put(NT + 4, &0x8664_u16.to_le_bytes());
        made.put(NT + 6, &(sections as u16).to_le_bytes());
        made.put(NT + 20, &240_u16.to_le_bytes());
        made.put(NT + 22, &0x2022_u16.to_le_bytes());
        made.put(OPTIONAL, &0x20b_u16.to_le_bytes());
        made.put(OPTIONAL + 24, &BASE.to_le_bytes());
        for (place, value) in [(32, PAGE), (36, 512), (56, image), (60, data), (108, 16)] {
            made.put_u32(OPTIONAL + place, value as u32);
        }
        made.put(OPTIONAL + 68, &3_u16.to_le_bytes());
        let size = section_bytes as u32;
        made.section(0, [size, RVA, size, data as u32], 0x4000_0040);
        for index in 1..sections {
            let rva = 0x1000_0000 + 2 * (PAGE * index) as u32;
            made.section(index, [PAGE as u32, rva, 0, 0], 0x6000_0020);
        }
        made
    }

    fn section(&mut self, index: usize, numbers: [u32; 4], flags: u32) {
        let at = SECTIONS + SECTION * index;
        self.put(at, b".data");
        for (number, value) in numbers.into_iter().enumerate() {
            self.put_u32(at + 8 + 4 * number, value);
        }
        self.put_u32(at + 36, flags);
    }

    /// The section has so many more bytes in memory than in the file.
    pub fn memory_goes_on(&mut self, bytes: u32) {
        let size = (self.bytes.len() - self.data) as u32;
        self.put_u32(SECTIONS + 8, size + bytes);
        self.put_u32(OPTIONAL + 56, RVA + size + bytes);
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    /// Where in the file an address is.
    pub fn offset(&self, rva: u32) -> u32 {
        (rva - RVA) + self.data as u32
    }

    /// An entry of the data directory.
    pub fn directory(&mut self, index: usize, rva: u32, size: u32) {
        self.put_u32(OPTIONAL + 112 + 8 * index, rva);
        self.put_u32(OPTIONAL + 116 + 8 * index, size);
    }

    /// All of the section.
    pub fn fill(&mut self, byte: u8) {
        self.bytes[self.data..].fill(byte);
    }

    pub fn byte(&mut self, rva: u32, byte: u8) {
        let at = self.offset(rva) as usize;
        self.put(at, &[byte]);
    }

    /// Numbers of four bytes; those behind the section's end are left out.
    pub fn words(&mut self, rva: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.many(rva, &bytes);
    }

    /// Numbers of eight bytes; those behind the section's end are left out.
    pub fn longs(&mut self, rva: u32, longs: &[u64]) {
        let bytes: Vec<u8> = longs.iter().flat_map(|long| long.to_le_bytes()).collect();
        self.many(rva, &bytes);
    }

    fn many(&mut self, rva: u32, bytes: &[u8]) {
        let at = self.offset(rva) as usize;
        let length = bytes.len().min(self.bytes.len() - at);
        self.put(at, &bytes[..length]);
    }

    /// A load configuration with a table of Control Flow Guard.
    pub fn guard(&mut self, flags: u32, table: u32, count: u64) {
        self.directory(image::pe::spec::LOAD_CONFIG, AT, 320);
        self.words(AT, &[320]);
        self.longs(AT + 128, &[BASE + u64::from(table), count]);
        self.words(AT + 144, &[flags]);
    }

    /// The file; it is one that can be read.
    pub fn bytes(&self) -> Vec<u8> {
        assert!(Pe::parse("made", &self.bytes).is_ok());
        self.bytes.clone()
    }
}
