//! PE images made byte by byte: headers, and one section that holds all else.

/// Where the section is in memory and in the file.
pub const ADDRESS: u32 = 0x1000;
pub const OFFSET: usize = 0x400;
const SIGNATURE: usize = 0x80;

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
        let mut bytes = vec![0; OFFSET];
        put(&mut bytes, 0, b"MZ");
        put(&mut bytes, 0x3c, &(SIGNATURE as u32).to_le_bytes());
        put(&mut bytes, SIGNATURE, b"PE\0\0");
        let optional_bytes: u16 = if self.is_64() { 240 } else { 224 };
        let characteristics = if self.dll { DLL | 2 } else { 2 };
        for (at, value) in [(4, self.machine), (6, 1), (20, optional_bytes), (22, characteristics)]
        {
            put(&mut bytes, SIGNATURE + at, &value.to_le_bytes());
        }
        let optional = SIGNATURE + 24;
        let magic: u16 = if self.is_64() { 0x20b } else { 0x10b };
        put(&mut bytes, optional, &magic.to_le_bytes());
        for (at, value) in [(32, 4096), (36, 512), (60, OFFSET as u32)] {
            put(&mut bytes, optional + at, &u32::to_le_bytes(value));
        }
        put(&mut bytes, optional + 68, &self.subsystem.to_le_bytes());
        let directories = optional + usize::from(optional_bytes) - 128;
        put(&mut bytes, directories - 4, &16_u32.to_le_bytes());
        for (index, (address, size)) in self.directories.iter().enumerate() {
            put(&mut bytes, directories + 8 * index, &address.to_le_bytes());
            put(&mut bytes, directories + 8 * index + 4, &size.to_le_bytes());
        }
        let size = self.section.len() as u32;
        let section = [size, ADDRESS, size, OFFSET as u32].map(u32::to_le_bytes).concat();
        put(&mut bytes, optional + usize::from(optional_bytes) + 8, &section);
        [bytes, self.section.clone()].concat()
    }
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}
