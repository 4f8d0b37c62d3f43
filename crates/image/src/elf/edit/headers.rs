//! The headers of a file that is rewritten.

use super::EditError;
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
    pub(super) fn read(bytes: &Overlay<'_>) -> Result<Headers, EditError> {
        let outside = || EditError::outside("the ELF header's fields");
        let file = bytes.array::<{ FileHeader::SIZE }>(0);
        let file = file.and_then(|bytes| FileHeader::read(&bytes)).ok_or_else(outside)?;
        let count = file.program_count;
        if u64::from(file.program_size) != PROGRAM_SIZE || count >= RESERVED || count == 0 {
            let found = "are missing, or of an unknown size".to_owned();
            return Err(EditError::Damaged { what: "the program headers", found });
        }
        let programs = table(bytes, file.programs_at, count, PROGRAM_SIZE, ProgramHeader::read)
            .ok_or_else(|| EditError::outside("the program headers"))?;
        let mut headers = Headers { file, programs, sections: Vec::new() };
        if file.sections_at == FileOffset::ZERO {
            return Ok(headers);
        }
        let count = file.section_count;
        if u64::from(file.section_size) != SECTION_SIZE || count >= RESERVED || file.names >= count
        {
            let found = "are of an unknown size, or too many".to_owned();
            return Err(EditError::Damaged { what: "the section headers", found });
        }
        headers.sections = table(bytes, file.sections_at, count, SECTION_SIZE, SectionHeader::read)
            .ok_or_else(|| EditError::outside("the section headers"))?;
        let end = |section: &SectionHeader| section.offset.checked_add(section.size);
        let inside = |section| end(section).is_some_and(|end| end.0 <= bytes.length());
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

/// So many headers from an offset on.
fn table<H>(
    bytes: &Overlay<'_>,
    start: FileOffset,
    count: u16,
    size: u64,
    read: impl Fn(&[u8]) -> Option<H>,
) -> Option<Vec<H>> {
    let table = bytes.read(start.0, u64::from(count) * size)?;
    table.chunks_exact(size as usize).map(read).collect()
}
