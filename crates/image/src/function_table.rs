//! All functions of an image with all their names, for those who put them into another order.

use crate::{CodePart, ImageError, elf, is_pe, pe};
use model::{Format, Va};
use std::ops::Range;
use std::path::Path;

/// The functions of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionTable {
    /// The image's format.
    pub format: Format,
    /// As [`FunctionStarts::build_id`](crate::FunctionStarts::build_id).
    pub build_id: Option<String>,
    /// The lowest address that the image asks for: RVAs count from here.
    pub preferred_base: Va,
    /// The file's parts that are mapped executable.
    pub code: Vec<CodePart>,
    /// The section in which linkers put functions (`.text`), where section headers tell.
    pub text: Option<Range<Va>>,
    /// Size of the file.
    pub file_bytes: u64,
    /// The functions, in order of address.
    pub functions: Vec<TableFunction>,
}

/// A function of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFunction {
    /// Where it begins.
    pub address: Va,
    /// Its size; up to the next function where nothing tells.
    pub bytes: u64,
    /// Its names as the linker knows them; none where only the unwind table knows of it.
    pub names: Vec<String>,
}

/// The functions of the ELF or PE file at `path`, with the symbols of its debug file: an installed
/// one, or the PDB file that it names.
///
/// # Errors
/// The file cannot be read, or is neither ELF nor PE.
pub fn function_table(path: &Path) -> Result<FunctionTable, ImageError> {
    let name = path.to_string_lossy();
    match crate::map(path)? {
        Some((_, bytes)) if is_pe(&bytes) => pe::function_table(&name, &bytes, Some(path)),
        Some((_, bytes)) => function_table_of(&name, &bytes),
        None => function_table_of(&name, &[]),
    }
}

/// [`function_table`] of the image in `bytes`; `path` is only its name in errors, so the PDB file
/// of a PE image is not looked for.
///
/// # Errors
/// The bytes are neither ELF nor PE, or end within the headers.
pub fn function_table_of(path: &str, bytes: &[u8]) -> Result<FunctionTable, ImageError> {
    match is_pe(bytes) {
        true => pe::function_table(path, bytes, None),
        false => elf::function_table(path, bytes),
    }
}

/// Hand-written code often states no size: it lasts until the next function.
pub(crate) fn end_at_next(functions: &mut [TableFunction]) {
    for index in 1..functions.len() {
        let next = functions[index].address;
        let before = &mut functions[index - 1];
        if before.bytes == 0 {
            before.bytes = next - before.address;
        }
    }
}
