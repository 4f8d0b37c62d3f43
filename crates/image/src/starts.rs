//! Where the functions of an image begin, found fast: for breakpoints at all of them.
//!
//! A start is what a symbol of a function or the unwind table says, so stripped files have them,
//! too; of PE files also what is exported.

use crate::{ImageError, elf, is_pe, pe};
use model::{FileOffset, Format, Rva, Va};
use std::path::Path;

/// Where the functions of an image begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionStarts {
    /// The image's format.
    pub format: Format,
    /// What tells this build from others: of ELF the GNU build-id in hexadecimal digits; of PE the
    /// GUID and age of its PDB file or, without one, `TimeDateStamp` and `SizeOfImage`, both as
    /// symbol servers write them.
    pub build_id: Option<String>,
    /// The lowest address that the image asks for: RVAs count from here.
    pub preferred_base: Va,
    /// Memory that the image takes, from its base on.
    pub image_bytes: u64,
    /// Where the program begins; 0 where the image has no entry point.
    pub entry: Rva,
    /// The file's parts that are mapped executable.
    pub code: Vec<CodePart>,
    /// The starts, in order of address.
    pub starts: Vec<Rva>,
    /// The byte at each start of a PE image. Of ELF there are none: its code is mapped as the file
    /// has it, and reading it all takes longer than everything else here.
    pub bytes: Vec<u8>,
}

/// A part of a file that is mapped executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePart {
    /// Where it begins in the file.
    pub offset: FileOffset,
    /// Where it begins in memory, before relocation.
    pub address: Va,
    /// Its size in the file.
    pub bytes: u64,
}

/// The starts of functions in the ELF or PE file at `path`. The entry point is one.
///
/// # Errors
/// The file cannot be read, or is neither ELF nor PE.
pub fn function_starts(path: &Path) -> Result<FunctionStarts, ImageError> {
    let name = path.to_string_lossy();
    match crate::map(path)? {
        Some((_, bytes)) if is_pe(&bytes) => pe::starts(&name, &bytes, Some(path)),
        Some((_, bytes)) => function_starts_of(&name, &bytes),
        None => function_starts_of(&name, &[]),
    }
}

/// [`function_starts`] of the image in `bytes`; `path` is only its name in errors.
///
/// # Errors
/// The bytes are neither ELF nor PE, or end within the headers.
pub fn function_starts_of(path: &str, bytes: &[u8]) -> Result<FunctionStarts, ImageError> {
    if is_pe(bytes) { pe::starts(path, bytes, None) } else { elf::starts(path, bytes) }
}

/// What tells this build of an ELF or PE file from others, as [`FunctionStarts::build_id`]; `None` where nothing does,
/// or the file cannot be read.
pub fn build_of(path: &Path) -> Option<String> {
    let name = path.to_string_lossy();
    let (_, bytes) = crate::map(path).ok()??;
    if is_pe(&bytes) {
        pe::build_id_of(&name, &bytes)
    } else {
        elf::build_id_of(&name, &bytes).ok()?
    }
}

impl FunctionStarts {
    /// Adds a start, if it is code and the file has it.
    pub(crate) fn add(&mut self, file: &[u8], address: Va) {
        let within = |part: &&CodePart| address.since(part.address).is_some_and(|d| d < part.bytes);
        let Some(part) = self.code.iter().find(within) else { return };
        let offset = part.offset.saturating_add(address - part.address).index();
        let rva = address.since(self.preferred_base).and_then(|rva| u32::try_from(rva).ok());
        let Some(rva) = rva.filter(|_| offset < file.len()) else { return };
        self.starts.push(Rva(rva));
        if self.format == Format::Pe {
            self.bytes.push(file[offset]);
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// The command's own test binary: symbols, unwind table and linkage table.
    #[test]
    fn starts_are_those_of_nm() {
        let own = std::env::current_exe().unwrap();
        let found = function_starts(&own).unwrap();
        assert!(found.starts.is_sorted());
        assert!(u64::from(found.starts.last().unwrap().0) < found.image_bytes);
        let nm = std::process::Command::new("nm").arg(&own).output().unwrap();
        let mut known = 0;
        for line in String::from_utf8(nm.stdout).unwrap().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let [address, "t" | "T" | "W", name] = words[..] {
                let address = u64::from_str_radix(address, 16).unwrap();
                let rva = Rva((address - found.preferred_base.0) as u32);
                // Labels in hand-written code have no type of a function.
                let is_start = found.starts.binary_search(&rva).is_ok();
                known += usize::from(is_start);
                assert!(is_start || !name.starts_with("_ZN"), "{line}");
            }
        }
        assert!(known > 1000, "{known}");
    }

    #[test]
    fn damaged_files_have_no_starts_and_do_no_harm() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in [64, 65, 1000, 5000] {
            let found = function_starts_of("cut", &own[..length]).unwrap();
            let inside = found.starts.len();
            assert!(inside <= 1, "{length}: {inside}");
        }
        assert!(function_starts_of("empty", b"").is_err());
        assert!(function_starts_of("cut", b"MZ").is_err());
    }
}
