//! Headers of files of both classes and byte orders, through `object`.

use super::dynamic::Dynamic;
use crate::ImageError;
use crate::notes::{Notes, entry};
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use std::fs::File;

/// One ELF file: its bytes and the tables through which everything else is found.
pub(crate) struct Elf<'a, H: FileHeader> {
    pub(crate) bytes: &'a [u8],
    /// The file that `bytes` are mapped from, if they are.
    pub(crate) source: Option<&'a File>,
    pub(crate) header: &'a H,
    pub(crate) endian: H::Endian,
    pub(crate) segments: &'a [H::ProgramHeader],
    pub(crate) sections: &'a [H::SectionHeader],
    pub(crate) dynamic: Dynamic,
    names: &'a [u8],
}

impl<'a, H: FileHeader> Elf<'a, H> {
    /// The file in `bytes`, of this class and byte order; `path` is only its name in errors.
    pub(crate) fn parse(
        path: &str,
        bytes: &'a [u8],
        endian: H::Endian,
        source: Option<&'a File>,
        notes: &mut Notes,
    ) -> Result<Self, ImageError> {
        let header: &H = entry(bytes).ok_or_else(|| super::truncated(path, bytes))?;
        let segments = header.program_headers(endian, bytes).unwrap_or_else(|error| {
            notes.problem(format!("program headers: {error}"));
            &[]
        });
        let sections = header.section_headers(endian, bytes).unwrap_or_else(|error| {
            notes.problem(format!("section headers: {error}"));
            &[]
        });
        let (dynamic, names) = (Dynamic::default(), &[][..]);
        let mut file = Elf { bytes, source, header, endian, segments, sections, dynamic, names };
        file.names = file.section_names(notes);
        file.dynamic = Dynamic::parse(&file, notes);
        Ok(file)
    }

    fn section_names(&self, notes: &mut Notes) -> &'a [u8] {
        if self.sections.is_empty() {
            return &[];
        }
        let index = self.header.shstrndx(self.endian, self.bytes).ok();
        match index.and_then(|index| self.sections.get(index as usize)) {
            Some(section) => self.section_bytes(section, "section names", notes),
            None => &[],
        }
    }

    /// Whether a section of this name exists.
    pub(crate) fn has_section(&self, name: &[u8]) -> bool {
        self.sections.iter().any(|section| self.section_name(section) == Some(name))
    }

    /// Whether the file says that this section's bytes are elsewhere: one that holds only debug
    /// information keeps the program headers of the stripped file, whose offsets mean nothing.
    pub(crate) fn is_elsewhere(&self, name: &[u8]) -> bool {
        let nobits = |s: &&H::SectionHeader| s.sh_type(self.endian) == elf::SHT_NOBITS;
        self.sections.iter().filter(nobits).any(|s| self.section_name(s) == Some(name))
    }

    /// A section's name, read no further than real names go.
    pub(crate) fn section_name(&self, section: &H::SectionHeader) -> Option<&'a [u8]> {
        let rest = self.names.get(section.sh_name(self.endian) as usize..)?;
        let rest = rest.get(..64).unwrap_or(rest);
        rest.split(|&byte| byte == 0).next()
    }

    /// The part of a section that is in the file.
    pub(crate) fn section_bytes(
        &self,
        section: &H::SectionHeader,
        what: &str,
        notes: &mut Notes,
    ) -> &'a [u8] {
        if section.sh_type(self.endian) == elf::SHT_NOBITS {
            return &[];
        }
        let (offset, size) = (section.sh_offset(self.endian), section.sh_size(self.endian));
        self.at_offset(offset.into(), size.into(), what, notes)
    }

    /// `size` bytes at `offset`, or as many of them as the file has.
    pub(crate) fn at_offset(
        &self,
        offset: u64,
        size: u64,
        what: &str,
        notes: &mut Notes,
    ) -> &'a [u8] {
        let length = self.bytes.len() as u64;
        let end = offset.saturating_add(size);
        if end > length && size > 0 {
            notes.problem(format!(
                "{what} at offset {offset:#x} takes {size} bytes, but the file ends at {length:#x}"
            ));
        }
        let range = offset.min(length) as usize..end.min(length) as usize;
        self.bytes.get(range).unwrap_or(&[])
    }

    /// Where in the file `part` of its bytes begins.
    pub(crate) fn offset_of(&self, part: &[u8]) -> u64 {
        (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize) as u64
    }

    /// `size` bytes at a virtual address: in the first segment whose file part holds it.
    pub(crate) fn at_address(
        &self,
        address: u64,
        size: u64,
        what: &str,
        notes: &mut Notes,
    ) -> &'a [u8] {
        if let Some(rest) = self.rest_at_address(address) {
            let length = usize::try_from(size).unwrap_or(usize::MAX).min(rest.len());
            if (length as u64) < size {
                notes.problem(format!(
                    "{what} at address {address:#x} takes {size} bytes, but only {length} are in \
                     its segment"
                ));
            }
            return rest.get(..length).unwrap_or(&[]);
        }
        notes.problem(format!("{what} at address {address:#x} lies in no PT_LOAD segment"));
        &[]
    }

    /// Everything from a virtual address to the end of its segment's file part.
    pub(crate) fn rest_at_address(&self, address: u64) -> Option<&'a [u8]> {
        self.segments.iter().filter(|s| s.p_type(self.endian) == elf::PT_LOAD).find_map(|segment| {
            let start: u64 = segment.p_vaddr(self.endian).into();
            let size: u64 = segment.p_filesz(self.endian).into();
            let within = address.checked_sub(start).filter(|&within| within < size)?;
            let offset: u64 = segment.p_offset(self.endian).into();
            let from = usize::try_from(offset.checked_add(within)?).ok()?;
            let to = usize::try_from(offset.saturating_add(size)).unwrap_or(usize::MAX);
            self.bytes.get(from..to.min(self.bytes.len()))
        })
    }
}
