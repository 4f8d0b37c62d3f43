//! Where the sections of a generated PE image lie.

use super::PeWorkloadError;
use ::image::pe::{PAGE, SectionHeader, spec};
use model::{FileOffset, Rva};

/// `SectionAlignment`: one page.
pub(super) const SECTION_ALIGNMENT: u32 = PAGE;

/// The most bytes of an image and of a file: addresses within it are signed 32-bit distances.
pub(super) const IMAGE_LIMIT: u64 = 0x7fff_0000;

/// A section to place. One of no bytes is left out of the image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    name: [u8; 8],
    /// `IMAGE_SCN_*`.
    flags: u32,
    bytes: u64,
}

const READ: u32 = spec::IMAGE_SCN_MEM_READ;
const DATA: u32 = spec::IMAGE_SCN_CNT_INITIALIZED_DATA | READ;

impl Section {
    pub(super) fn text(bytes: u64) -> Self {
        let flags = spec::IMAGE_SCN_CNT_CODE | spec::IMAGE_SCN_MEM_EXECUTE | READ;
        Self { name: *b".text\0\0\0", flags, bytes }
    }

    pub(super) fn rdata(bytes: u64) -> Self {
        Self { name: *b".rdata\0\0", flags: DATA, bytes }
    }

    pub(super) fn data(bytes: u64) -> Self {
        Self { name: *b".data\0\0\0", flags: DATA | spec::IMAGE_SCN_MEM_WRITE, bytes }
    }

    /// Zeros that take no space in the file.
    pub(super) fn bss(bytes: u64) -> Self {
        let flags = spec::IMAGE_SCN_CNT_UNINITIALIZED_DATA | READ | spec::IMAGE_SCN_MEM_WRITE;
        Self { name: *b".bss\0\0\0\0", flags, bytes }
    }

    fn is_in_file(&self) -> bool {
        self.flags & spec::IMAGE_SCN_CNT_UNINITIALIZED_DATA == 0
    }

    pub(super) fn reloc(bytes: u64) -> Self {
        Self { name: *b".reloc\0\0", flags: DATA | spec::IMAGE_SCN_MEM_DISCARDABLE, bytes }
    }
}

/// Where the sections of an image are, in memory and in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<const N: usize> {
    /// The sections; that of one without bytes is where it would be.
    pub(super) sections: [SectionHeader; N],
    /// `SizeOfHeaders`.
    pub(super) header_bytes: u32,
    /// `SizeOfImage`.
    pub(super) image_bytes: u32,
    pub(super) file_bytes: u32,
}

impl<const N: usize> Layout<N> {
    /// Places `sections` one behind the other in memory and in the file.
    ///
    /// `header_bytes` is the size of all headers before padding.
    pub(super) fn new(
        file: &str,
        header_bytes: u32,
        file_alignment: u32,
        sections: [Section; N],
    ) -> Result<Self, PeWorkloadError> {
        let total = sections.iter().fold(0_u64, |sum, section| sum.saturating_add(section.bytes));
        fits(file, total)?;
        let headers = header_bytes.next_multiple_of(file_alignment);
        let mut rva = u64::from(headers).next_multiple_of(SECTION_ALIGNMENT.into());
        let mut offset = u64::from(headers);
        // No sum below leaves 33 bits: every section is smaller than the limit.
        let sections = sections.map(|section| {
            let bytes = if section.is_in_file() { section.bytes } else { 0 };
            let raw_bytes = bytes.next_multiple_of(file_alignment.into());
            let placed = SectionHeader {
                name: section.name,
                flags: section.flags,
                memory_bytes: section.bytes as u32,
                rva: Rva(rva as u32),
                offset: FileOffset(if section.is_in_file() { offset } else { 0 }),
                file_bytes: raw_bytes as u32,
            };
            rva += section.bytes.next_multiple_of(SECTION_ALIGNMENT.into());
            offset += raw_bytes;
            placed
        });
        fits(file, rva.max(offset))?;
        Ok(Self {
            sections,
            header_bytes: headers,
            image_bytes: rva as u32,
            file_bytes: offset as u32,
        })
    }

    /// The sections that are in the image.
    pub(super) fn present(&self) -> impl Iterator<Item = &SectionHeader> {
        self.sections.iter().filter(|section| section.memory_bytes > 0)
    }
}

/// An error where `bytes` are more than an image can have.
pub(super) fn fits(file: &str, bytes: u64) -> Result<(), PeWorkloadError> {
    if bytes <= IMAGE_LIMIT {
        return Ok(());
    }
    Err(PeWorkloadError::Image { file: file.to_owned(), bytes, limit: IMAGE_LIMIT })
}

/// Pads the file up to `offset`.
pub(super) fn pad(out: &mut Vec<u8>, offset: u64) {
    debug_assert!(out.len() as u64 <= offset, "{} > {offset}", out.len());
    out.resize(offset as usize, 0);
}

/// Ends a section that has all its bytes, and pads it in the file.
pub(super) fn close(out: &mut Vec<u8>, section: &SectionHeader) {
    let end = section.offset + u64::from(section.memory_bytes);
    debug_assert_eq!(FileOffset::at(out.len()), end, "{section:?}");
    pad(out, section.offset.0 + u64::from(section.file_bytes));
}

/// Replaces four bytes that were written before.
pub(super) fn patch(out: &mut [u8], at: usize, value: u32) {
    if let Some(bytes) = out.get_mut(at..at + 4) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}
