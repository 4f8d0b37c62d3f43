//! Which part of a file belongs to which section.

use crate::elf::Elf;
use crate::error::{self, ImageError};
use crate::notes::Notes;
use crate::{elf, is_elf, is_pe, pe};
use object::elf::{ELFCLASS64, FileHeader32, FileHeader64, SHT_NOBITS, SHT_NULL};
use object::read::elf::{FileHeader, SectionHeader};
use object::{BigEndian, Endianness, LittleEndian};
use std::ops::Range;
use std::path::Path;

/// The name that the headers of a file are given here.
const HEADERS: &str = "headers";

/// A section, as far as it is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its name; `headers` for those of the file.
    pub name: String,
    /// Its bytes in the file.
    pub bytes: Range<u64>,
}

/// The headers and sections of an ELF or PE file that have bytes in it, in the order of the file;
/// nothing where the file is empty.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is neither ELF nor PE.
pub fn extents(path: &Path) -> Result<Vec<Extent>, ImageError> {
    let name = path.to_string_lossy();
    let Some((_, bytes)) = crate::map(path)? else { return Ok(Vec::new()) };
    let mut found = if is_pe(&bytes) {
        of_pe(&name, &bytes)?
    } else if is_elf(&bytes) {
        of_elf(&name, &bytes)?
    } else {
        return Err(ImageError::unrecognized(&name, &bytes, &error::IMAGE));
    };
    let end = bytes.len() as u64;
    for extent in &mut found {
        extent.bytes.end = extent.bytes.end.min(end);
    }
    found.retain(|extent| extent.bytes.start < extent.bytes.end);
    found.sort_by_key(|extent| (extent.bytes.start, extent.bytes.end));
    Ok(found)
}

fn extent(name: &[u8], offset: u64, bytes: u64) -> Extent {
    let name = String::from_utf8_lossy(name).into_owned();
    Extent { name, bytes: offset..offset.saturating_add(bytes) }
}

fn of_pe(path: &str, bytes: &[u8]) -> Result<Vec<Extent>, ImageError> {
    let facts = pe::facts_of(path, bytes)?;
    let headers = pe::Headers::read(path, bytes)?.header_bytes;
    let sections = facts.sections.iter().map(|section| {
        extent(section.name.as_bytes(), section.offset.0, section.file_bytes.into())
    });
    Ok([extent(HEADERS.as_bytes(), 0, headers.into())].into_iter().chain(sections).collect())
}

fn of_elf(path: &str, bytes: &[u8]) -> Result<Vec<Extent>, ImageError> {
    match elf::form(path, bytes)? {
        (ELFCLASS64, Endianness::Little) => {
            sections::<FileHeader64<LittleEndian>>(path, bytes, LittleEndian)
        }
        (ELFCLASS64, Endianness::Big) => {
            sections::<FileHeader64<BigEndian>>(path, bytes, BigEndian)
        }
        (_, Endianness::Little) => {
            sections::<FileHeader32<LittleEndian>>(path, bytes, LittleEndian)
        }
        (_, Endianness::Big) => sections::<FileHeader32<BigEndian>>(path, bytes, BigEndian),
    }
}

fn sections<H: FileHeader<Word: Into<u64>>>(
    path: &str,
    bytes: &[u8],
    endian: H::Endian,
) -> Result<Vec<Extent>, ImageError> {
    let file = Elf::<H>::parse(path, bytes, endian, None, &mut Notes::new(bytes.len()))?;
    let header = file.header;
    let table = u64::from(header.e_phentsize(endian)) * u64::from(header.e_phnum(endian));
    let behind = header.e_phoff(endian).into().saturating_add(table);
    let headers = u64::from(header.e_ehsize(endian)).max(behind);
    let stored = file.sections.iter().filter(|section| {
        let kind = section.sh_type(endian);
        kind != SHT_NOBITS && kind != SHT_NULL
    });
    let own = stored.map(|section| {
        let name = file.section_name(section).unwrap_or_default();
        extent(name, section.sh_offset(endian).into(), section.sh_size(endian).into())
    });
    Ok([extent(HEADERS.as_bytes(), 0, headers)].into_iter().chain(own).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn sections_of_a_program_are_where_readelf_says() {
        let own = std::env::current_exe().unwrap();
        let found = extents(&own).unwrap();
        assert_eq!((found[0].name.as_str(), found[0].bytes.start), ("headers", 0));
        let Some(readelf) = testkit::tool("readelf") else { return };
        let output = std::process::Command::new(readelf).arg("-SW").arg(&own).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let mut compared = 0;
        for line in text.lines().filter_map(|line| line.split_once("] ")) {
            let words: Vec<&str> = line.1.split_whitespace().collect();
            let [name, kind, _, offset, size, ..] = words[..] else { continue };
            if !name.starts_with('.') || kind == "NOBITS" || hex(size) == 0 {
                continue;
            }
            let expected = extent(name.as_bytes(), hex(offset), hex(size));
            assert!(found.contains(&expected), "{expected:?}");
            compared += 1;
        }
        assert!(compared > 10 && compared < found.len(), "{compared}");
    }

    #[test]
    fn what_is_no_image_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(extents(file.path()).unwrap(), []);
        std::fs::write(file.path(), "#!/bin/sh\n").unwrap();
        assert!(extents(file.path()).is_err());
    }
}
