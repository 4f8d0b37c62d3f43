//! Where the parts and sections of an image file are in memory, relative to each other.

use crate::elf::Elf;
use crate::error::{self, ImageError};
use crate::notes::Notes;
use crate::{elf, is_elf, is_pe, pe};
use model::{FileOffset, Format, Rva, Va};
use object::elf::{
    ELFCLASS64, ET_EXEC, FileHeader32, FileHeader64, PT_LOAD, SHF_ALLOC, SHF_TLS, SHT_NOBITS,
};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{BigEndian, Endianness, LittleEndian};
use std::ops::Range;
use std::path::Path;

/// The name that the headers of a file are given here.
const HEADERS: &str = "headers";
/// An image with more sections is not divided: no program has that many.
const MOST_SECTIONS: usize = 4096;
/// Size of the pages that relocations are counted in.
const RELOCATED: u64 = 4096;

/// A part of the file that is mapped as one: a PT_LOAD segment, a section or the headers of a PE
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedPart {
    /// Where it begins in the file.
    pub offset: FileOffset,
    /// Bytes from the file.
    pub file_bytes: u64,
    /// Its addresses, as the file has them; of a PE file, relative to its beginning.
    pub memory: Range<Va>,
}

/// A section that takes memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedSection {
    /// Its name; `headers` for those of the file.
    pub name: String,
    /// Its addresses, as those of [`PlacedPart`].
    pub memory: Range<Va>,
}

/// Where an image is in memory; numbers are the file's own, with ends that are not before their
/// starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePlacement {
    /// ELF or PE.
    pub format: Format,
    /// Parts by address.
    pub parts: Vec<PlacedPart>,
    /// Sections by address.
    pub sections: Vec<PlacedSection>,
    /// It cannot be moved (ET_EXEC).
    pub fixed: bool,
    /// Pages of 4 KiB that relocations write to, by number and in order.
    pub relocated: Vec<u64>,
}

/// Where the image file at `path` is in memory.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is neither ELF nor PE.
pub fn placement(path: &Path) -> Result<ImagePlacement, ImageError> {
    let mapped = crate::map(path)?;
    let bytes = mapped.as_ref().map(|(_, bytes)| &bytes[..]);
    placement_of(&path.to_string_lossy(), bytes.unwrap_or_default())
}

/// [`placement`] of the bytes of a file; `name` is only its name in errors.
///
/// # Errors
/// They are neither ELF nor PE.
pub fn placement_of(name: &str, bytes: &[u8]) -> Result<ImagePlacement, ImageError> {
    let mut found = if is_pe(bytes) {
        of_pe(name, bytes)?
    } else if is_elf(bytes) {
        of_elf(name, bytes)?
    } else {
        return Err(ImageError::unrecognized(name, bytes, &error::IMAGE));
    };
    found.sections.retain(|section| !section.memory.is_empty());
    if found.sections.len() > MOST_SECTIONS {
        found.sections.clear();
    }
    found.sections.sort_by_key(|section| (section.memory.start, section.memory.end));
    found.parts.sort_by_key(|part| part.memory.start);
    Ok(found)
}

fn range(start: u64, bytes: u64) -> Range<Va> {
    Va(start)..Va(start).saturating_add(bytes)
}

fn section(name: &[u8], start: u64, bytes: u64) -> PlacedSection {
    let name = String::from_utf8_lossy(name).into_owned();
    PlacedSection { name, memory: range(start, bytes) }
}

fn of_pe(path: &str, bytes: &[u8]) -> Result<ImagePlacement, ImageError> {
    let facts = pe::facts_of(path, bytes)?;
    let headers = pe::Headers::read(path, bytes)?;
    let part = |offset, file_bytes: u32, rva: Rva, memory_bytes: u32| PlacedPart {
        offset,
        file_bytes: file_bytes.into(),
        memory: range(rva.0.into(), memory_bytes.into()),
    };
    let header_bytes = headers.header_bytes;
    let mut parts = vec![part(FileOffset(0), header_bytes, Rva(0), header_bytes)];
    let mut sections = vec![section(HEADERS.as_bytes(), 0, header_bytes.into())];
    for one in &facts.sections {
        let memory = if one.memory_bytes == 0 { one.file_bytes } else { one.memory_bytes };
        parts.push(part(one.offset, one.file_bytes, one.rva, memory));
        sections.push(section(one.name.as_bytes(), one.rva.0.into(), memory.into()));
    }
    let blocks = pe::Pe::parse(path, bytes)?.relocation_blocks();
    let mut relocated: Vec<u64> =
        blocks.map_while(Result::ok).map(|block| u64::from(block.page.0) / RELOCATED).collect();
    relocated.sort_unstable();
    relocated.dedup();
    Ok(ImagePlacement { format: Format::Pe, parts, sections, fixed: false, relocated })
}

fn of_elf(path: &str, bytes: &[u8]) -> Result<ImagePlacement, ImageError> {
    match elf::form(path, bytes)? {
        (ELFCLASS64, Endianness::Little) => {
            placed::<FileHeader64<LittleEndian>>(path, bytes, LittleEndian)
        }
        (ELFCLASS64, Endianness::Big) => placed::<FileHeader64<BigEndian>>(path, bytes, BigEndian),
        (_, Endianness::Little) => placed::<FileHeader32<LittleEndian>>(path, bytes, LittleEndian),
        (_, Endianness::Big) => placed::<FileHeader32<BigEndian>>(path, bytes, BigEndian),
    }
}

fn placed<H: FileHeader<Word: Into<u64>>>(
    path: &str,
    bytes: &[u8],
    endian: H::Endian,
) -> Result<ImagePlacement, ImageError> {
    let file = Elf::<H>::parse(path, bytes, endian, None, &mut Notes::new(bytes.len()))?;
    let loaded = file.segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD);
    let part = |segment: &H::ProgramHeader| PlacedPart {
        offset: FileOffset(segment.p_offset(endian).into()),
        file_bytes: segment.p_filesz(endian).into(),
        memory: range(segment.p_vaddr(endian).into(), segment.p_memsz(endian).into()),
    };
    let parts: Vec<PlacedPart> = loaded.map(part).collect();
    let mut sections = Vec::new();
    let header = file.header;
    let table = u64::from(header.e_phentsize(endian)) * u64::from(header.e_phnum(endian));
    let headers = u64::from(header.e_ehsize(endian)).saturating_add(table);
    if let Some(first) = parts.iter().find(|part| part.offset == FileOffset(0)) {
        sections.push(section(HEADERS.as_bytes(), first.memory.start.0, headers));
    }
    for one in file.sections {
        let flags = one.sh_flags(endian);
        // Thread-local zeros take addresses that belong to other sections.
        let unused = flags.contains(SHF_TLS) && one.sh_type(endian) == SHT_NOBITS;
        if flags.contains(SHF_ALLOC) && !unused {
            let name = file.section_name(one).unwrap_or_default();
            sections.push(section(name, one.sh_addr(endian).into(), one.sh_size(endian).into()));
        }
    }
    let fixed = header.e_type(endian) == ET_EXEC;
    let relocated = elf::written_pages(&file);
    Ok(ImagePlacement { format: Format::Elf, parts, sections, fixed, relocated })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn sections_are_where_readelf_says_and_lie_in_parts() {
        let own = std::env::current_exe().unwrap();
        let found = placement(&own).unwrap();
        for section in &found.sections {
            let inside = |part: &PlacedPart| {
                part.memory.start <= section.memory.start && section.memory.end <= part.memory.end
            };
            assert!(found.parts.iter().any(inside), "{section:?}");
        }
        let Some(readelf) = testkit::tool("readelf") else { return };
        let output = std::process::Command::new(readelf).arg("-SW").arg(&own).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let mut compared = 0;
        for line in text.lines().filter_map(|line| line.split_once("] ")) {
            let words: Vec<&str> = line.1.split_whitespace().collect();
            let [name, _, address, _, size, _, flags, ..] = words[..] else { continue };
            if !flags.contains('A') || name == ".tbss" || hex(size) == 0 {
                continue;
            }
            let expected = section(name.as_bytes(), hex(address), hex(size));
            assert!(found.sections.contains(&expected), "{expected:?}");
            compared += 1;
        }
        assert!(compared > 10, "{compared}");
        let facts = crate::facts(&own).unwrap();
        let model::ImageFacts::Elf(facts) = facts else { panic!("{facts:?}") };
        assert_eq!(found.relocated.len() as u64, facts.relocated_pages);
        assert!(found.relocated.is_sorted() && !found.relocated.is_empty());
    }

    #[test]
    fn what_is_no_image_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(placement(file.path()).is_err());
        assert!(placement_of("script", b"#!/bin/sh\n").is_err());
    }
}
