//! Functions by the code that belongs to them.

use crate::{ImageError, elf, is_pe, pe};
use model::Va;
use std::path::{Path, PathBuf};

/// Where Debian and others install the symbols that they strip from programs.
pub const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// A function of an image.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function {
    /// As the symbol table spells it (mangled), without its version; `[plt]` for the stubs that
    /// call other modules; `None` where only the unwind table knows of it.
    pub name: Option<String>,
    /// Virtual address of its first instruction.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
}

/// A place in the code of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Virtual address, before relocation.
    pub address: u64,
    /// The function around it, where symbols or the unwind table tell.
    pub function: Option<Function>,
}

/// For each of `offsets` in the image file at `path` its place; `None` for what is not code.
///
/// Names of ELF functions come from `.symtab`, `.dynsym` and the `.symtab` of a debug file below
/// `debug_folder` found by the build-id (`.build-id/ab/cdef….debug`); those of PE functions from
/// COFF symbols, exports, and the PDB file that the image names.
///
/// # Errors
/// The file cannot be read, or is neither ELF nor PE.
pub fn functions(
    path: &Path,
    debug_folder: &Path,
    offsets: &[u64],
) -> Result<Vec<Option<Placed>>, ImageError> {
    let name = path.to_string_lossy();
    let debug = |build_id: &str| {
        let path = debug_file(debug_folder, build_id)?;
        crate::map(&path).ok().flatten().map(|(_, bytes)| bytes)
    };
    match crate::map(path)? {
        Some((_, bytes)) if is_pe(&bytes) => pe::placed(&name, &bytes, Some(path), offsets),
        Some((_, bytes)) => elf::placed(&name, &bytes, debug, offsets),
        None => functions_of(&name, &[], None, offsets),
    }
}

/// For each of `starts` the function that begins there, as [`functions`] names it; faster where
/// these are few of many.
///
/// # Errors
/// The file cannot be read, or is neither ELF nor PE.
pub fn functions_starting(
    path: &Path,
    debug_folder: &Path,
    starts: &[Va],
) -> Result<Vec<Option<Function>>, ImageError> {
    let name = path.to_string_lossy();
    let debug = |build_id: &str| {
        let path = debug_file(debug_folder, build_id)?;
        crate::map(&path).ok().flatten().map(|(_, bytes)| bytes)
    };
    match crate::map(path)? {
        Some((_, bytes)) if is_pe(&bytes) => pe::starting(&name, &bytes, Some(path), starts),
        Some((_, bytes)) => elf::starting(&name, &bytes, debug, starts),
        None => elf::starting(&name, &[], debug, starts),
    }
}

/// [`functions`] of the image in `bytes`; `debug` holds the debug file of an ELF image.
///
/// # Errors
/// The bytes are neither ELF nor PE, or end within the headers.
pub fn functions_of(
    name: &str,
    bytes: &[u8],
    debug: Option<&[u8]>,
    offsets: &[u64],
) -> Result<Vec<Option<Placed>>, ImageError> {
    match is_pe(bytes) {
        true => pe::placed(name, bytes, None, offsets),
        false => elf::placed(name, bytes, |_| debug, offsets),
    }
}

/// The file with what was stripped from an image.
pub(crate) fn debug_file(folder: &Path, build_id: &str) -> Option<PathBuf> {
    let (first, rest) = build_id.split_at_checked(2)?;
    let path = folder.join(".build-id").join(first).join(format!("{rest}.debug"));
    path.is_file().then_some(path)
}

/// `length` bytes at `offset` of the file at `path`, or as many as it has.
///
/// # Errors
/// The file cannot be read.
pub fn code(path: &Path, offset: u64, length: u64) -> Result<Vec<u8>, ImageError> {
    let Some((_file, bytes)) = crate::map(path)? else { return Ok(Vec::new()) };
    let all = bytes.len() as u64;
    let range = offset.min(all) as usize..offset.saturating_add(length).min(all) as usize;
    Ok(bytes.get(range).unwrap_or(&[]).to_vec())
}
