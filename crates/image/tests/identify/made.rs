//! PE images made byte by byte: headers, and one section that holds all else.

use image::pe::{DataDirectory, Headers, SectionHeader};
use model::{FileOffset, Rva};

/// Where the section is in memory and in the file.
pub const ADDRESS: u32 = 0x1000;
pub const OFFSET: usize = 0x400;

pub const I386: u16 = 0x14c;
pub const AMD64: u16 = 0x8664;
pub const ARM64: u16 = 0xaa64;
/// IMAGE_FILE_DLL.
const DLL: u16 = 0x2000;

/// An image to be made.
#[derive(Clone)]
pub struct Pe {
    pub machine: u16,
    pub dll: bool,
    pub subsystem: u16,
    pub directories: [(u32, u32); 16],
    /// Contents of the section.
    pub section: Vec<u8>,
}

impl Pe {
    /// A console program.
    pub fn new(machine: u16) -> Pe {
        Pe { machine, dll: false, subsystem: 3, directories: [(0, 0); 16], section: vec![0; 64] }
    }

    fn is_64(&self) -> bool {
        self.machine != I386
    }

    /// Adds bytes to the section; their address.
    pub fn add(&mut self, bytes: &[u8]) -> u32 {
        let address = ADDRESS + self.section.len() as u32;
        self.section.extend(bytes);
        address
    }

    /// The same with bytes that a data directory leads to.
    pub fn directory(&mut self, index: usize, bytes: &[u8]) -> u32 {
        let address = self.add(bytes);
        self.directories[index] = (address, bytes.len() as u32);
        address
    }

    /// Imports of these libraries, `apart` bytes between their names.
    pub fn importing(mut self, names: &[&str], apart: usize) -> Pe {
        let addresses: Vec<u32> = names
            .iter()
            .map(|name| {
                let address = self.add(&[name.as_bytes(), b"\0"].concat());
                self.add(&vec![0; apart]);
                address
            })
            .collect();
        let descriptor = |name: &u32| [1, 0, 0, *name, 1_u32].map(u32::to_le_bytes).concat();
        let mut descriptors: Vec<u8> = addresses.iter().flat_map(descriptor).collect();
        descriptors.resize(descriptors.len() + 20, 0);
        self.directory(1, &descriptors);
        self
    }

    /// A library that exports under this name.
    pub fn named(mut self, name: &str) -> Pe {
        self.dll = true;
        let name = self.add(&[name.as_bytes(), b"\0"].concat());
        let fields = [0, 0, 0, name, 1, 0, 0, 0, 0, 0].map(u32::to_le_bytes);
        self.directory(0, &fields.concat());
        self
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut headers = Headers::new(self.machine, self.is_64());
        if self.dll {
            headers.characteristics |= DLL;
        }
        // Behind a DOS stub of 64 bytes.
        headers.nt_offset += 64;
        headers.section_table += 64;
        headers.subsystem = self.subsystem;
        headers.header_bytes = OFFSET as u32;
        let table = |(rva, size)| DataDirectory { rva: Rva(rva), size };
        headers.directories = self.directories.map(table).to_vec();
        let size = self.section.len() as u32;
        headers.sections.push(SectionHeader {
            name: [0; 8],
            rva: Rva(ADDRESS),
            memory_bytes: size,
            offset: FileOffset::at(OFFSET),
            file_bytes: size,
            flags: 0,
        });
        let mut bytes = headers.bytes();
        bytes.resize(OFFSET, 0);
        [bytes, self.section.clone()].concat()
    }
}
