//! Section headers, which a loader does not look at.

use super::{ENDIAN, Loadable};
use crate::elf::Elf64;
use crate::elf::records::SectionHeader;
use crate::notes::Notes;

/// A section header and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Name, as far as it is text.
    pub name: String,
    /// All else.
    pub header: SectionHeader,
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
            header: SectionHeader::of(section),
        });
        sections.collect()
    }
}
