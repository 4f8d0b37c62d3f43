//! Headers written, for images that are made from nothing.
//!
//! Format: *PE Format*, from *MS-DOS Stub* to *Section Table*.

use super::headers::{DataDirectory, Headers};
use super::{PAGE, SECTOR, spec};
use model::{FileOffset, Rva, Va};
use object::{LittleEndian as LE, pe, pod};

/// `MajorLinkerVersion`.
const LINKER_VERSION: u8 = 14;
/// Version of the system and of the subsystem: Windows Vista, as linkers write it.
const SYSTEM_VERSION: u16 = 6;
/// Bytes of the stack, and of the heap.
const RESERVED_BYTES: u32 = 0x10_0000;
const COMMITTED_BYTES: u32 = 0x1000;
/// `IMAGE_NT_SIGNATURE` and the COFF header.
const BEFORE_OPTIONAL: usize = 4 + size_of::<pe::ImageFileHeader>();

impl Headers {
    /// Headers of a console program without sections, with 16 empty entries in the data directory
    /// and without a DOS stub.
    pub fn new(machine: u16, pe32_plus: bool) -> Headers {
        let nt_offset = size_of::<pe::ImageDosHeader>();
        let optional_bytes = match pe32_plus {
            true => size_of::<pe::ImageOptionalHeader64>(),
            false => size_of::<pe::ImageOptionalHeader32>(),
        };
        let directories = vec![DataDirectory::EMPTY; 16];
        let directory_bytes = directories.len() * size_of::<pe::ImageDataDirectory>();
        let section_table = nt_offset + BEFORE_OPTIONAL + optional_bytes + directory_bytes;
        Headers {
            pe32_plus,
            machine,
            characteristics: spec::IMAGE_FILE_EXECUTABLE_IMAGE,
            time_stamp: 0,
            entry: Rva::ZERO,
            base: Va::ZERO,
            section_alignment: PAGE,
            file_alignment: SECTOR,
            image_bytes: 0,
            header_bytes: 0,
            checksum: 0,
            subsystem: pe::IMAGE_SUBSYSTEM_WINDOWS_CUI.0,
            dll_characteristics: 0,
            directories,
            sections: Vec::new(),
            nt_offset: FileOffset::at(nt_offset),
            section_table: FileOffset::at(section_table),
            symbols: None,
        }
    }

    /// The start of a file that has these headers, up to the end of the section table. `SizeOfCode`
    /// and what is like it are those of the sections.
    ///
    /// # Panics
    /// The section table is within the other headers.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.section_offset(self.sections.len()).index()];
        let dos: &mut pe::ImageDosHeader = at(&mut bytes, FileOffset::ZERO);
        dos.e_magic.set(LE, pe::IMAGE_DOS_SIGNATURE);
        dos.e_lfanew.set(LE, self.nt_offset.0 as u32);
        *at(&mut bytes, self.nt_offset) = *b"PE\0\0";
        let optional = self.nt_offset + BEFORE_OPTIONAL as u64;
        let file: &mut pe::ImageFileHeader = at(&mut bytes, self.nt_offset + 4);
        file.machine.set(LE, pe::Machine(self.machine));
        file.number_of_sections.set(LE, self.sections.len() as u16);
        file.time_date_stamp.set(LE, self.time_stamp);
        file.size_of_optional_header.set(LE, (self.section_table - optional) as u16);
        file.characteristics.set(LE, pe::FileFlags(self.characteristics));
        match self.pe32_plus {
            true => self.put_64(at(&mut bytes, optional)),
            false => self.put_32(at(&mut bytes, optional)),
        }
        for (index, directory) in self.directories.iter().enumerate() {
            let entry: &mut pe::ImageDataDirectory = at(&mut bytes, self.directory_offset(index));
            entry.virtual_address.set(LE, directory.rva.0);
            entry.size.set(LE, directory.size);
        }
        for (index, section) in self.sections.iter().enumerate() {
            let header: &mut pe::ImageSectionHeader = at(&mut bytes, self.section_offset(index));
            header.name = section.name;
            header.virtual_size.set(LE, section.memory_bytes);
            header.virtual_address.set(LE, section.rva.0);
            header.size_of_raw_data.set(LE, section.file_bytes);
            header.pointer_to_raw_data.set(LE, section.offset.0 as u32);
            header.characteristics.set(LE, pe::SectionFlags(section.flags));
        }
        bytes
    }

    /// Bytes in the file of the sections of a kind, and where the first of them is.
    fn sections_of(&self, flag: u32) -> (u32, Rva) {
        let mut of_kind = self.sections.iter().filter(|section| section.flags & flag != 0);
        let first = of_kind.clone().next().map_or(Rva::ZERO, |section| section.rva);
        (of_kind.by_ref().map(|section| section.file_bytes).sum(), first)
    }
}

/// What is at an offset.
fn at<T: pod::Pod>(bytes: &mut [u8], offset: FileOffset) -> &mut T {
    let found = bytes.get_mut(offset.index()..).and_then(|bytes| pod::from_bytes_mut(bytes).ok());
    found.expect("the section table is behind the other headers").0
}

/// The fields that both forms of the optional header have.
macro_rules! put {
    ($name:ident, $type:ty, $magic:expr, $pointer:ty) => {
        impl Headers {
            fn $name(&self, optional: &mut $type) {
                let (code_bytes, code) = self.sections_of(spec::IMAGE_SCN_CNT_CODE);
                let (data_bytes, _) = self.sections_of(spec::IMAGE_SCN_CNT_INITIALIZED_DATA);
                optional.magic.set(LE, $magic);
                optional.major_linker_version = LINKER_VERSION;
                optional.size_of_code.set(LE, code_bytes);
                optional.size_of_initialized_data.set(LE, data_bytes);
                optional.address_of_entry_point.set(LE, self.entry.0);
                optional.base_of_code.set(LE, code.0);
                optional.image_base.set(LE, self.base.0 as $pointer);
                optional.section_alignment.set(LE, self.section_alignment);
                optional.file_alignment.set(LE, self.file_alignment);
                optional.major_operating_system_version.set(LE, SYSTEM_VERSION);
                optional.major_subsystem_version.set(LE, SYSTEM_VERSION);
                optional.size_of_image.set(LE, self.image_bytes);
                optional.size_of_headers.set(LE, self.header_bytes);
                optional.check_sum.set(LE, self.checksum);
                optional.subsystem.set(LE, pe::Subsystem(self.subsystem));
                optional.dll_characteristics.set(LE, pe::DllFlags(self.dll_characteristics));
                optional.size_of_stack_reserve.set(LE, RESERVED_BYTES.into());
                optional.size_of_stack_commit.set(LE, COMMITTED_BYTES.into());
                optional.size_of_heap_reserve.set(LE, RESERVED_BYTES.into());
                optional.size_of_heap_commit.set(LE, COMMITTED_BYTES.into());
                optional.number_of_rva_and_sizes.set(LE, self.directories.len() as u32);
            }
        }
    };
}

put!(put_common_32, pe::ImageOptionalHeader32, pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC, u32);
put!(put_64, pe::ImageOptionalHeader64, pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC, u64);

impl Headers {
    fn put_32(&self, optional: &mut pe::ImageOptionalHeader32) {
        self.put_common_32(optional);
        let (_, data) = self.sections_of(spec::IMAGE_SCN_CNT_INITIALIZED_DATA);
        optional.base_of_data.set(LE, data.0);
    }
}
