//! Program and section headers as they stand in a file (gABI, Elf64_Phdr and Elf64_Shdr).

use super::EditError;
use crate::elf::spec;
use crate::overlay::Overlay;

/// Offsets within the ELF header.
pub(super) const E_TYPE: u64 = 16;
pub(super) const E_ENTRY: u64 = 24;
const E_PHOFF: u64 = 32;
const E_SHOFF: u64 = 40;
const E_PHENTSIZE: u64 = 54;
const E_PHNUM: u64 = 56;
const E_SHENTSIZE: u64 = 58;
const E_SHNUM: u64 = 60;
const E_SHSTRNDX: u64 = 62;
/// Sizes of the headers.
pub(super) const PROGRAM_SIZE: u64 = 56;
pub(super) const SECTION_SIZE: u64 = 64;
/// Numbers from here on stand for something else (PN_XNUM, SHN_LORESERVE).
pub(super) const RESERVED: u16 = 0xff00;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) kind: u32,
    pub(super) flags: u32,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) physical: u64,
    pub(super) file_size: u64,
    pub(super) memory_size: u64,
    pub(super) alignment: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: u32,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) link: u32,
    pub(super) info: u32,
    pub(super) alignment: u64,
    pub(super) entry_size: u64,
}

/// The headers of a file.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    /// Where the program headers are.
    pub(super) programs_at: u64,
    pub(super) programs: Vec<Program>,
    /// Where the section headers are.
    pub(super) sections_at: u64,
    pub(super) sections: Vec<Section>,
    /// Which section holds the names.
    pub(super) names: u16,
}

impl Program {
    pub(super) fn loads(&self) -> bool {
        self.kind == spec::PT_LOAD
    }

    pub(super) fn end(&self) -> u64 {
        self.address.saturating_add(self.memory_size)
    }

    /// Where in the file an address of the file's part is.
    pub(super) fn offset_of(&self, address: u64) -> Option<u64> {
        let within = address.checked_sub(self.address)?;
        if within >= self.file_size {
            return None;
        }
        self.offset.checked_add(within)
    }

    pub(super) fn bytes(&self) -> [u8; PROGRAM_SIZE as usize] {
        let mut bytes = [0; PROGRAM_SIZE as usize];
        let (kind, rest) = bytes.split_at_mut(4);
        kind.copy_from_slice(&self.kind.to_le_bytes());
        let (flags, rest) = rest.split_at_mut(4);
        flags.copy_from_slice(&self.flags.to_le_bytes());
        let words = [self.offset, self.address, self.physical];
        let words = words.into_iter().chain([self.file_size, self.memory_size, self.alignment]);
        for (place, word) in rest.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

impl Section {
    pub(super) fn allocated(&self) -> bool {
        self.flags & spec::SHF_ALLOC != 0
    }

    /// Whether it takes room in the file.
    pub(super) fn in_file(&self) -> bool {
        self.kind != spec::SHT_NOBITS && self.kind != spec::SHT_NULL && self.size > 0
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SECTION_SIZE as usize);
        bytes.extend(self.name.to_le_bytes());
        bytes.extend(self.kind.to_le_bytes());
        for word in [self.flags, self.address, self.offset, self.size] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(self.link.to_le_bytes());
        bytes.extend(self.info.to_le_bytes());
        bytes.extend(self.alignment.to_le_bytes());
        bytes.extend(self.entry_size.to_le_bytes());
        bytes
    }
}

impl Headers {
    pub(super) fn read(bytes: &Overlay<'_>) -> Result<Headers, EditError> {
        let outside = || EditError::outside("the ELF header's fields");
        let half = |at| bytes.array(at).map(u16::from_le_bytes).ok_or_else(outside);
        let word = |at| bytes.array(at).map(u64::from_le_bytes).ok_or_else(outside);
        let programs_at = word(E_PHOFF)?;
        let count = half(E_PHNUM)?;
        if half(E_PHENTSIZE)? != PROGRAM_SIZE as u16 || count >= RESERVED || count == 0 {
            let found = "are missing, or of an unknown size".to_owned();
            return Err(EditError::Damaged { what: "the program headers", found });
        }
        let mut programs = Vec::new();
        for index in 0..u64::from(count) {
            let at = programs_at.checked_add(index * PROGRAM_SIZE);
            let header = at.and_then(|at| program(bytes, at));
            programs.push(header.ok_or_else(|| EditError::outside("the program headers"))?);
        }
        let sections_at = word(E_SHOFF)?;
        let mut headers =
            Headers { programs_at, programs, sections_at, sections: Vec::new(), names: 0 };
        let (count, names) = (half(E_SHNUM)?, half(E_SHSTRNDX)?);
        if sections_at == 0 {
            return Ok(headers);
        }
        if half(E_SHENTSIZE)? != SECTION_SIZE as u16 || count >= RESERVED || names >= count {
            let found = "are of an unknown size, or too many".to_owned();
            return Err(EditError::Damaged { what: "the section headers", found });
        }
        headers.names = names;
        for index in 0..u64::from(count) {
            let at = sections_at.checked_add(index * SECTION_SIZE);
            let header = at.and_then(|at| section(bytes, at));
            let header = header.ok_or_else(|| EditError::outside("the section headers"))?;
            if header.in_file()
                && header.offset.checked_add(header.size).is_none_or(|end| end > bytes.length())
            {
                return Err(EditError::outside("sections"));
            }
            headers.sections.push(header);
        }
        Ok(headers)
    }

    /// Writes all headers where they are to be.
    pub(super) fn write(&self, bytes: &mut Overlay<'_>) -> Option<()> {
        bytes.write(E_PHOFF, &self.programs_at.to_le_bytes())?;
        bytes.write(E_PHNUM, &(self.programs.len() as u16).to_le_bytes())?;
        let programs: Vec<u8> = self.programs.iter().flat_map(Program::bytes).collect();
        bytes.write(self.programs_at, &programs)?;
        if self.sections.is_empty() {
            return Some(());
        }
        bytes.write(E_SHOFF, &self.sections_at.to_le_bytes())?;
        bytes.write(E_SHNUM, &(self.sections.len() as u16).to_le_bytes())?;
        bytes.write(E_SHSTRNDX, &self.names.to_le_bytes())?;
        let sections: Vec<u8> = self.sections.iter().flat_map(Section::bytes).collect();
        bytes.write(self.sections_at, &sections)
    }

    /// Where in the file an address is.
    pub(super) fn offset_of(&self, address: u64) -> Option<u64> {
        let mut loaded = self.programs.iter().filter(|program| program.loads());
        loaded.find_map(|program| program.offset_of(address))
    }

    /// The section at this address that passes; empty ones aside.
    pub(super) fn section_at(
        &mut self,
        address: u64,
        passes: impl Fn(&Section) -> bool,
    ) -> Option<&mut Section> {
        let here = |section: &&mut Section| section.allocated() && section.address == address;
        self.sections.iter_mut().filter(here).find(|section| passes(section))
    }
}

fn program(bytes: &Overlay<'_>, at: u64) -> Option<Program> {
    let half = |within| bytes.array(at.checked_add(within)?).map(u32::from_le_bytes);
    let word = |within| bytes.array(at.checked_add(within)?).map(u64::from_le_bytes);
    Some(Program {
        kind: half(0)?,
        flags: half(4)?,
        offset: word(8)?,
        address: word(16)?,
        physical: word(24)?,
        file_size: word(32)?,
        memory_size: word(40)?,
        alignment: word(48)?,
    })
}

fn section(bytes: &Overlay<'_>, at: u64) -> Option<Section> {
    let half = |within| bytes.array(at.checked_add(within)?).map(u32::from_le_bytes);
    let word = |within| bytes.array(at.checked_add(within)?).map(u64::from_le_bytes);
    Some(Section {
        name: half(0)?,
        kind: half(4)?,
        flags: word(8)?,
        address: word(16)?,
        offset: word(24)?,
        size: word(32)?,
        link: half(40)?,
        info: half(44)?,
        alignment: word(48)?,
        entry_size: word(56)?,
    })
}
