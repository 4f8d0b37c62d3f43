//! Where in the file fields of the headers are, for those who change them.

use super::headers::Headers;
use model::FileOffset;
use object::pe;
use std::mem::offset_of;

impl Headers {
    /// Where in the file `TimeDateStamp` is.
    pub fn time_stamp_offset(&self) -> FileOffset {
        let file = offset_of!(pe::ImageNtHeaders64, file_header);
        self.nt(file + offset_of!(pe::ImageFileHeader, time_date_stamp))
    }

    /// Where `Characteristics` of the COFF header is.
    pub fn characteristics_offset(&self) -> FileOffset {
        let file = offset_of!(pe::ImageNtHeaders64, file_header);
        self.nt(file + offset_of!(pe::ImageFileHeader, characteristics))
    }

    /// A field of `IMAGE_NT_HEADERS`.
    fn nt(&self, field: usize) -> FileOffset {
        self.nt_offset + field as u64
    }

    /// A field of the optional header.
    fn optional(&self, field: usize) -> FileOffset {
        self.nt(offset_of!(pe::ImageNtHeaders64, optional_header) + field)
    }

    /// Where `ImageBase` is: 8 bytes in PE32+, else 4.
    pub fn base_offset(&self) -> FileOffset {
        self.optional(match self.pe32_plus {
            true => offset_of!(pe::ImageOptionalHeader64, image_base),
            false => offset_of!(pe::ImageOptionalHeader32, image_base),
        })
    }

    /// Where `CheckSum` is; the same in both forms, as are the three that follow.
    pub fn checksum_offset(&self) -> FileOffset {
        self.optional(offset_of!(pe::ImageOptionalHeader64, check_sum))
    }

    /// Where `FileAlignment` is.
    pub fn file_alignment_offset(&self) -> FileOffset {
        self.optional(offset_of!(pe::ImageOptionalHeader64, file_alignment))
    }

    /// Where `SizeOfCode` is, and `SizeOfInitializedData` behind it; the same in both forms.
    pub fn code_bytes_offset(&self) -> FileOffset {
        self.optional(offset_of!(pe::ImageOptionalHeader64, size_of_code))
    }

    /// Where `SizeOfHeaders` is.
    pub fn header_bytes_offset(&self) -> FileOffset {
        self.optional(offset_of!(pe::ImageOptionalHeader64, size_of_headers))
    }

    /// Where `DllCharacteristics` is.
    pub fn dll_characteristics_offset(&self) -> FileOffset {
        self.optional(offset_of!(pe::ImageOptionalHeader64, dll_characteristics))
    }

    /// Where an entry of the data directory is.
    pub fn directory_offset(&self, index: usize) -> FileOffset {
        let table = match self.pe32_plus {
            true => size_of::<pe::ImageOptionalHeader64>(),
            false => size_of::<pe::ImageOptionalHeader32>(),
        };
        self.optional(table + index * size_of::<pe::ImageDataDirectory>())
    }

    /// Where the header of a section is.
    pub fn section_offset(&self, index: usize) -> FileOffset {
        self.section_table + (index * size_of::<pe::ImageSectionHeader>()) as u64
    }

    /// Where a section's `SizeOfRawData` is, and `PointerToRawData` behind it.
    pub fn section_data_offset(&self, index: usize) -> FileOffset {
        self.section_offset(index) + offset_of!(pe::ImageSectionHeader, size_of_raw_data) as u64
    }
}
