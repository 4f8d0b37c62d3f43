//! One PE file: where in it an address of the image is, and what is there.

use super::address_map::AddressMap;
use super::headers::{DataDirectory, Headers, SectionHeader};
use super::spec;
use crate::ImageError;
use model::{FileOffset, Rva, Va};
use std::ffi::CStr;

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

/// One PE file in memory.
#[derive(Clone, Debug)]
pub struct Pe<'a> {
    bytes: &'a [u8],
    headers: Headers,
    map: AddressMap,
}

impl<'a> Pe<'a> {
    /// Reads the headers of the file in `bytes`; `path` is only its name in errors.
    ///
    /// Format: *PE Format*, from *MS-DOS Stub* to *Section Table*.
    ///
    /// # Errors
    /// The bytes are not PE, or end within the headers.
    pub fn parse(path: &str, bytes: &'a [u8]) -> Result<Pe<'a>, ImageError> {
        Ok(Pe::of(Headers::read(path, bytes)?, bytes))
    }

    /// A file whose headers have been read.
    pub(super) fn of(headers: Headers, bytes: &'a [u8]) -> Pe<'a> {
        let map = AddressMap::of(&headers, bytes.len());
        Pe { bytes, headers, map }
    }

    /// The whole file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its headers.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Where in the file addresses of the image are.
    pub fn address_map(&self) -> &AddressMap {
        &self.map
    }

    /// Where in the file an address of the image is; `None` where memory is zero or nothing.
    pub fn offset(&self, rva: Rva) -> Option<FileOffset> {
        self.map.offset(rva)
    }

    /// The file's bytes from an address to the end of its section.
    pub fn at(&self, rva: Rva) -> Option<&'a [u8]> {
        let (offset, bytes) = self.map.run(rva)?;
        self.bytes.get(offset.index()..offset.index() + bytes)
    }

    /// `size` bytes at an address, if the file has all of them.
    pub fn range(&self, rva: Rva, size: usize) -> Option<&'a [u8]> {
        self.at(rva)?.get(..size)
    }

    /// `N` bytes of memory at an address: the file's, and zeros where a section goes on in memory
    /// alone.
    pub fn memory<const N: usize>(&self, rva: Rva) -> Option<[u8; N]> {
        let rest = self.at(rva).unwrap_or(&[]);
        if let Some(bytes) = rest.first_chunk() {
            return Some(*bytes);
        }
        let section = self.section(rva)?;
        let left = section.extent() - (rva - section.rva);
        let mut bytes = [0; N];
        bytes.get_mut(..rest.len())?.copy_from_slice(rest);
        let behind = rva.checked_add(rest.len() as u32)?;
        (left as usize >= N && self.is_zero_filled(behind)).then_some(bytes)
    }

    /// Whether memory is zero at an address because its section has no data there. Where the file
    /// ends within a section's data it is not: such a file is damaged.
    pub(super) fn is_zero_filled(&self, rva: Rva) -> bool {
        self.section(rva).is_some_and(|section| rva - section.rva >= section.file_bytes)
    }

    /// The string at an address, without its end; `None` for one of 16 KiB or more.
    pub fn string(&self, rva: Rva) -> Option<&'a [u8]> {
        let rest = self.at(rva)?;
        let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
        CStr::from_bytes_until_nul(rest).ok().map(CStr::to_bytes)
    }

    /// The number at an address: 8 bytes in PE32+, else 4.
    pub fn pointer(&self, rva: Rva) -> Option<u64> {
        let rest = self.at(rva)?;
        if self.headers.pe32_plus {
            rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
        } else {
            rest.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into())
        }
    }

    /// The address, relative to the base, of a virtual address.
    pub fn rva(&self, address: Va) -> Option<Rva> {
        let rva = u32::try_from(address.since(self.headers.base)?).ok()?;
        (rva < self.headers.image_bytes).then_some(Rva(rva))
    }

    /// A table of the data directory (`IMAGE_DIRECTORY_ENTRY_*`), if there is one.
    pub fn directory(&self, index: usize) -> Option<DataDirectory> {
        let directory = self.headers.directories.get(index)?;
        let sized = directory.size != 0 || SIZELESS.contains(&index);
        (directory.rva != Rva(0) && sized).then_some(*directory)
    }

    /// The section that an address is in.
    pub fn section(&self, rva: Rva) -> Option<&SectionHeader> {
        let inside = |section: &&SectionHeader| {
            rva.since(section.rva).is_some_and(|within| within < section.extent())
        };
        self.headers.sections.iter().find(inside)
    }
}
