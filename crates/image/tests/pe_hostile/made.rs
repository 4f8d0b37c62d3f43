//! PE32+ images of one section, made by hand to hold what no linker writes.

use image::pe::{DataDirectory, Headers, Pe, SectionHeader};
use model::{FileOffset, Rva, Va};

pub const PAGE: usize = 4096;
/// Where tests put their tables: in the section, behind its first half page.
pub const AT: u32 = 0x1800;
const RVA: u32 = 0x1000;
const BASE: u64 = 0x1_8000_0000;

/// An image that grows.
pub struct Made {
    bytes: Vec<u8>,
    headers: Headers,
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
        let mut headers = Headers::new(0x8664, true);
        let data = headers.section_offset(sections).index().next_multiple_of(512);
        let image = RVA as usize + section_bytes.next_multiple_of(PAGE);
        headers.characteristics = 0x2022;
        headers.base = Va(BASE);
        headers.image_bytes = image as u32;
        headers.header_bytes = data as u32;
        let section = |rva, memory_bytes, offset, file_bytes, flags| SectionHeader {
            name: *b".data\0\0\0",
            rva: Rva(rva),
            memory_bytes,
            offset: FileOffset::at(offset),
            file_bytes,
            flags,
        };
        let size = section_bytes as u32;
        headers.sections.push(section(RVA, size, data, size, 0x4000_0040));
        for index in 1..sections {
            let rva = 0x1000_0000 + 2 * (PAGE * index) as u32;
            headers.sections.push(section(rva, PAGE as u32, 0, 0, 0x6000_0020));
        }
        let mut bytes = headers.bytes();
        bytes.resize(data + section_bytes, 0);
        Made { bytes, headers, data }
    }

    /// The headers changed, and written again.
    fn change(&mut self, change: impl FnOnce(&mut Headers)) {
        change(&mut self.headers);
        self.put(0, &self.headers.bytes());
    }

    /// The section has so many more bytes in memory than in the file.
    pub fn memory_goes_on(&mut self, bytes: u32) {
        let size = (self.bytes.len() - self.data) as u32 + bytes;
        self.change(|headers| {
            headers.sections[0].memory_bytes = size;
            headers.image_bytes = RVA + size;
        });
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Where in the file an address is.
    pub fn offset(&self, rva: u32) -> u32 {
        (rva - RVA) + self.data as u32
    }

    /// An entry of the data directory.
    pub fn directory(&mut self, index: usize, rva: u32, size: u32) {
        let table = DataDirectory { rva: Rva(rva), size };
        self.change(|headers| headers.directories[index] = table);
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
