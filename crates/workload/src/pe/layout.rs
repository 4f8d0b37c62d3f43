//! Where the sections of a generated PE image lie.

use super::PeWorkloadError;

/// `SectionAlignment`: one page.
pub(super) const SECTION_ALIGNMENT: u32 = 4096;

/// The most bytes of an image and of a file: addresses within it are signed 32-bit distances.
pub(super) const IMAGE_LIMIT: u64 = 0x7fff_0000;

/// A section to place. One of no bytes is left out of the image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) name: &'static str,
    /// `IMAGE_SCN_*`.
    pub(super) flags: u32,
    pub(super) bytes: u64,
}

impl Section {
    pub(super) fn text(bytes: u64) -> Self {
        Self { name: ".text", flags: 0x6000_0020, bytes }
    }

    pub(super) fn rdata(bytes: u64) -> Self {
        Self { name: ".rdata", flags: 0x4000_0040, bytes }
    }

    pub(super) fn data(bytes: u64) -> Self {
        Self { name: ".data", flags: 0xc000_0040, bytes }
    }

    pub(super) fn reloc(bytes: u64) -> Self {
        Self { name: ".reloc", flags: 0x4200_0040, bytes }
    }
}

/// A section with its place. The place of one without bytes is where it would be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) flags: u32,
    /// Bytes before padding.
    pub(super) bytes: u32,
    /// Address, relative to the image's base.
    pub(super) rva: u32,
    /// Offset in the file.
    pub(super) offset: u32,
    /// Bytes in the file.
    pub(super) raw_bytes: u32,
}

/// Where the sections of an image are, in memory and in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<const N: usize> {
    pub(super) places: [Place; N],
    pub(super) file_alignment: u32,
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
        let places = sections.map(|section| {
            let raw_bytes = section.bytes.next_multiple_of(file_alignment.into());
            let place = Place {
                name: section.name,
                flags: section.flags,
                bytes: section.bytes as u32,
                rva: rva as u32,
                offset: offset as u32,
                raw_bytes: raw_bytes as u32,
            };
            rva += section.bytes.next_multiple_of(SECTION_ALIGNMENT.into());
            offset += raw_bytes;
            place
        });
        fits(file, rva.max(offset))?;
        Ok(Self {
            places,
            file_alignment,
            header_bytes: headers,
            image_bytes: rva as u32,
            file_bytes: offset as u32,
        })
    }

    /// The sections that are in the image.
    pub(super) fn present(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.bytes > 0)
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
pub(super) fn pad(out: &mut Vec<u8>, offset: u32) {
    debug_assert!(out.len() <= offset as usize, "{} > {offset}", out.len());
    out.resize(offset as usize, 0);
}

/// Ends a section that has all its bytes, and pads it in the file.
pub(super) fn close(out: &mut Vec<u8>, place: &Place) {
    debug_assert_eq!(out.len(), (place.offset + place.bytes) as usize, "{}", place.name);
    pad(out, place.offset + place.raw_bytes);
}

/// Replaces four bytes that were written before.
pub(super) fn patch(out: &mut [u8], at: usize, value: u32) {
    if let Some(bytes) = out.get_mut(at..at + 4) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}
