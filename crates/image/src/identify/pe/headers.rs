//! The headers of a PE file, and where addresses are in it.

use super::Unread;
use crate::identify::source::Source;
use crate::notes::entry;
use crate::pe::{self, AddressMap, spec};
use model::{FileOffset, Rva};
use object::LittleEndian as LE;
use object::pe::{ImageFileHeader, ImageOptionalHeader64, ImageSectionHeader};

/// Bytes of the longest optional header without its data directory.
const LONGEST_OPTIONAL: usize = size_of::<ImageOptionalHeader64>();

/// The headers, and where in the file they say that addresses are.
pub(super) struct Headers {
    pub(super) pe: pe::Headers,
    map: AddressMap,
}

impl Headers {
    /// The headers from the signature at `at` on.
    pub(super) fn read(source: &mut Source, at: u64) -> Result<Headers, Unread> {
        let start = source.get(at, pe::OPTIONAL)?;
        let file: &ImageFileHeader = start.get(4..).and_then(entry).ok_or(Unread::Outside)?;
        let sections = usize::from(file.number_of_sections.get(LE));
        let length = pe::OPTIONAL
            + usize::from(file.size_of_optional_header.get(LE))
            + sections * size_of::<ImageSectionHeader>();
        // Of the smallest images the fields are where the section table is.
        let bytes = source.up_to(at, length.max(pe::OPTIONAL + LONGEST_OPTIONAL))?;
        let headers = pe::Headers::at("", bytes, FileOffset(at));
        let pe = headers.map_err(|_| Unread::Outside)?;
        // Whatever is behind the end of the file is found to be missing when it is read.
        let map = AddressMap::of(&pe, u32::MAX as usize);
        Ok(Headers { pe, map })
    }

    pub(super) fn is_library(&self) -> bool {
        self.pe.characteristics & spec::IMAGE_FILE_DLL != 0
    }

    /// Where the file holds what is loaded at an address, and how much of it follows.
    pub(super) fn place(&self, address: Rva) -> Option<(u64, usize)> {
        let (offset, bytes) = self.map.run(address)?;
        Some((offset.0, bytes))
    }
}
