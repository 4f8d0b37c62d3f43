//! Section headers, which a loader does not look at.

use super::{ENDIAN, Loadable};
use crate::elf::Elf64;
use crate::notes::{Notes, entry};
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};

/// A section header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Name, as far as it is text.
    pub name: String,
    /// SHT_PROGBITS and so on.
    pub kind: u32,
    /// SHF_ALLOC and so on.
    pub flags: u64,
    /// Address; 0 for what is not loaded.
    pub address: u64,
    /// Where in the file.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

impl Loadable {
    /// Its headers once more: they were read when it was opened.
    pub(crate) fn elf(&self) -> Option<Elf64<'_>> {
        let bytes = self.bytes();
        Elf64::parse("", bytes, ENDIAN, None, &mut Notes::new(bytes.len())).ok()
    }

    /// All section headers, the null section first; none where the file has none.
    pub fn sections(&self) -> Vec<Section> {
        let Some(file) = self.elf() else { return Vec::new() };
        let sections = file.sections.iter().map(|section| Section {
            name: file
                .section_name(section)
                .map_or(String::new(), |name| String::from_utf8_lossy(name).into_owned()),
            kind: section.sh_type(ENDIAN).0,
            flags: section.sh_flags(ENDIAN).0,
            address: section.sh_addr(ENDIAN),
            offset: section.sh_offset(ENDIAN),
            size: section.sh_size(ENDIAN),
        });
        sections.collect()
    }

    /// Where the section headers begin in the file.
    pub fn section_headers_offset(&self) -> u64 {
        let header = entry::<FileHeader64<LittleEndian>>(self.bytes());
        header.map_or(0, |header| header.e_shoff(ENDIAN))
    }

    /// Where the program headers begin in the file.
    pub fn program_headers_offset(&self) -> u64 {
        let header = entry::<FileHeader64<LittleEndian>>(self.bytes());
        header.map_or(0, |header| header.e_phoff(ENDIAN))
    }
}
