//! The loader that the kernel starts for a program.

use super::read::Elf;
use crate::error::ImageError;
use crate::notes::Notes;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use std::ffi::OsString;

/// What PT_INTERP names, as the kernel reads it; `None` for a file without one.
pub(crate) fn of_bytes(path: &str, bytes: &[u8]) -> Result<Option<OsString>, ImageError> {
    read_as_its_class!(read, path, bytes)
}

fn read<H: FileHeader<Endian = Endianness>>(
    path: &str,
    bytes: &[u8],
    endian: Endianness,
) -> Result<Option<OsString>, ImageError> {
    let notes = &mut Notes::new(bytes.len());
    let file = Elf::<H>::parse(path, bytes, endian, None, notes)?;
    let segment = file.segments.iter().find(|segment| segment.p_type(endian) == elf::PT_INTERP);
    Ok(segment.map(|segment| {
        let (offset, size) = (segment.p_offset(endian), segment.p_filesz(endian));
        let name = file.at_offset(offset.into(), size.into(), "PT_INTERP", notes);
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        model::text::of_bytes(name.to_vec())
    }))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_segment_and_no_other_text_of_the_file() {
        let own = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&own).unwrap();
        let found = of_bytes("", &bytes).unwrap();
        assert!(found.is_none_or(|found| std::path::Path::new(&found).exists()));
        // A program of one segment, behind whose headers stands a text that looks like a path.
        let mut bytes = vec![0_u8; 64 + 56];
        bytes[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
        bytes[16] = 3;
        bytes[18] = 62;
        bytes[32] = 64;
        bytes[52] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64] = 3;
        let text = b"\0/no/path\0/lib/ld.so\0";
        bytes[64 + 8] = (64 + 56 + 10) as u8;
        bytes[64 + 32] = 11;
        bytes.extend(text);
        assert_eq!(of_bytes("", &bytes).unwrap(), Some("/lib/ld.so".into()));
        assert!(of_bytes("", b"#!").is_err());
    }
}
