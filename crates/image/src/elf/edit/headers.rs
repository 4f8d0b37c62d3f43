//! The headers of a file that is rewritten.

use super::EditError;
use crate::elf::loadable::Loadable;
use crate::elf::records::{FileHeader, ProgramHeader, SectionHeader};
use files::Overlay;
use model::{FileOffset, Va};

/// Sizes of the headers.
pub(super) const PROGRAM_SIZE: u64 = ProgramHeader::SIZE as u64;
pub(super) const SECTION_SIZE: u64 = SectionHeader::SIZE as u64;
/// Numbers from here on stand for something else (PN_XNUM, SHN_LORESERVE).
pub(super) const RESERVED: u16 = 0xff00;

/// The headers of a file.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    pub(super) file: FileHeader,
    pub(super) programs: Vec<ProgramHeader>,
    pub(super) sections: Vec<SectionHeader>,
}

impl Headers {
    /// Those of an image, where there are as many as the file says and all are in the file.
    pub(super) fn of(image: &Loadable) -> Result<Headers, EditError> {
        let FileHeader { program_count, section_count, names, sections_at, .. } = image.header;
        let programs = image.segments().to_vec();
        if programs.is_empty() || program_count >= RESERVED {
            let found = "are missing, of an unknown size, or outside of the file".to_owned();
            return Err(EditError::Damaged { what: "the program headers", found });
        }
        let sections = image.sections().into_iter().map(|section| section.header);
        let headers = Headers { file: image.header, programs, sections: sections.collect() };
        if sections_at == FileOffset::ZERO {
            return Ok(headers);
        }
        let count = headers.sections.len();
        if count == 0 || count >= usize::from(RESERVED) || names >= section_count {
            let found = "are of an unknown size, too many, or outside of the file".to_owned();
            return Err(EditError::Damaged { what: "the section headers", found });
        }
        let length = FileOffset::at(image.bytes().len());
        let end = |section: &SectionHeader| section.offset.checked_add(section.size);
        let inside = |section| end(section).is_some_and(|end| end <= length);
        if headers.sections.iter().any(|section| section.in_file() && !inside(section)) {
            return Err(EditError::outside("sections"));
        }
        Ok(headers)
    }

    /// Writes all headers where they are to be.
    pub(super) fn write(&mut self, bytes: &mut Overlay<'_>) -> Option<()> {
        self.file.program_count = self.programs.len() as u16;
        let programs: Vec<u8> = self.programs.iter().flat_map(ProgramHeader::bytes).collect();
        bytes.write(self.file.programs_at.0, &programs)?;
        if !self.sections.is_empty() {
            self.file.section_count = self.sections.len() as u16;
            let sections: Vec<u8> = self.sections.iter().flat_map(SectionHeader::bytes).collect();
            bytes.write(self.file.sections_at.0, &sections)?;
        }
        bytes.write(0, &self.file.bytes())
    }

    /// Where in the file an address is.
    pub(super) fn offset_of(&self, address: Va) -> Option<FileOffset> {
        let mut loaded = self.programs.iter().filter(|program| program.loads());
        loaded.find_map(|program| program.offset_of(address))
    }

    /// The section at this address that passes; empty ones aside.
    pub(super) fn section_at(
        &mut self,
        address: Va,
        passes: impl Fn(&SectionHeader) -> bool,
    ) -> Option<&mut SectionHeader> {
        let here = |section: &&mut SectionHeader| section.allocated() && section.address == address;
        self.sections.iter_mut().filter(here).find(|section| passes(section))
    }
}
