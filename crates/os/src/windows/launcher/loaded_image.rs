//! The header of an image in the memory of a process.

use super::memory::ChildMemory;
use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;

/// Offset of the PE header's offset in a file.
const PE_OFFSET: usize = 0x3c;
/// `PE\0\0`.
const SIGNATURE: u32 = 0x4550;
const AMD64: u16 = 0x8664;
/// Offsets from the signature to the machine, the entry point and the size of the image; the same in PE32 and
/// PE32+.
const MACHINE: usize = 4;
const ENTRY: usize = 4 + 20 + 16;
const SIZE_OF_IMAGE: usize = 4 + 20 + 56;
/// What is read at once: nearly always the whole header.
const HEAD: usize = 1024;

/// The part of a header that launches need.
pub(in crate::windows) struct LoadedImage {
    /// Address of the first instruction of a program, or of a DLL's entry point.
    pub(in crate::windows) entry: Option<usize>,
    /// Bytes of address space.
    pub(in crate::windows) bytes: usize,
}

/// What reading a header gives: the outer error is the system's, the inner one says what is wrong with the image.
pub(in crate::windows) type Header = io::Result<Result<LoadedImage, ImageProblem>>;

/// Why an image's header does not say what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::windows) enum ImageProblem {
    #[error("its image has no PE header")]
    NoHeader,
    #[error("it is not an x86-64 program")]
    Machine,
}

/// Reads the header of the image at `base`.
///
/// # Errors
/// The memory cannot be read, or the image is none that launches know.
pub(in crate::windows) fn read(memory: &ChildMemory, base: usize) -> Header {
    header(base, |at, into| memory.read(base + at, into))
}

/// [`read`] from the image's file, which takes a hundredth of the time.
///
/// # Errors
/// The file cannot be read, or the image is none that launches know.
pub(in crate::windows) fn read_file(file: &File, base: usize) -> Header {
    header(base, |at, into| {
        let count = file.seek_read(into, at as u64)?;
        // The end of a short file is no header.
        into[count..].fill(0);
        Ok(())
    })
}

fn header(base: usize, read: impl Fn(usize, &mut [u8]) -> io::Result<()>) -> Header {
    let mut head = vec![0; HEAD];
    read(0, &mut head)?;
    let Some(at) = number(&head, PE_OFFSET) else { return Ok(Err(ImageProblem::NoHeader)) };
    let needed = SIZE_OF_IMAGE + 4;
    let header = match head.get(at as usize..at as usize + needed) {
        Some(header) => header.to_vec(),
        None => {
            let mut header = vec![0; needed];
            read(at as usize, &mut header)?;
            header
        }
    };
    Ok(parse(&header, base))
}

fn parse(header: &[u8], base: usize) -> Result<LoadedImage, ImageProblem> {
    let field = |at| number(header, at).ok_or(ImageProblem::NoHeader);
    if field(0)? != SIGNATURE {
        return Err(ImageProblem::NoHeader);
    }
    if field(MACHINE)? as u16 != AMD64 {
        return Err(ImageProblem::Machine);
    }
    let entry = field(ENTRY)? as usize;
    let bytes = field(SIZE_OF_IMAGE)? as usize;
    Ok(LoadedImage { entry: (entry != 0).then_some(base + entry), bytes })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_other_machines_are_told_apart() {
        let mut header = vec![0; SIZE_OF_IMAGE + 4];
        assert_eq!(parse(&header, 0).err(), Some(ImageProblem::NoHeader));
        header[..4].copy_from_slice(b"PE\0\0");
        assert_eq!(parse(&header, 0).err(), Some(ImageProblem::Machine));
        header[MACHINE..MACHINE + 2].copy_from_slice(&AMD64.to_le_bytes());
        header[SIZE_OF_IMAGE..].copy_from_slice(&0x3000_u32.to_le_bytes());
        let image = parse(&header, 0x1_0000).unwrap();
        assert_eq!((image.entry, image.bytes), (None, 0x3000));
        header[ENTRY..ENTRY + 4].copy_from_slice(&0x1234_u32.to_le_bytes());
        assert_eq!(parse(&header, 0x1_0000).unwrap().entry, Some(0x1_1234));
    }
}
