//! Static facts of executable images: what a file's tables say, without running it.
//!
//! Everything read here is untrusted: a damaged file gives an error or facts with
//! [`problems`](model::ImageFacts::problems), never a panic, and time and memory stay in
//! proportion to the file's size.

pub mod elf;
mod error;
mod extents;
mod function_table;
mod functions;
pub mod identify;
mod lines;
mod notes;
pub mod pe;
mod placement;
mod starts;
pub mod unwind;

pub use error::ImageError;
pub use extents::{Extent, extents};
pub use function_table::{FunctionTable, TableFunction, function_table, function_table_of};
pub use functions::{
    DEBUG_FOLDER, Function, Placed, code, functions, functions_of, functions_starting,
};
pub use lines::{Line, lines};
pub use placement::{ImagePlacement, PlacedPart, PlacedSection, placement, placement_of};
pub use starts::{CodePart, FunctionStarts, build_of, function_starts, function_starts_of};

use files::MapError;
use memmap2::Mmap;
use model::ImageFacts;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

/// Static facts of the image file at `path`, which is mapped read-only.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is neither ELF nor PE.
pub fn facts(path: &Path) -> Result<ImageFacts, ImageError> {
    let name = path.to_string_lossy();
    match map(path)? {
        Some((_, bytes)) if is_pe(&bytes) => {
            pe::facts_of(&name, &bytes).map(|facts| ImageFacts::Pe(Box::new(facts)))
        }
        Some((file, bytes)) if is_elf(&bytes) => {
            let facts = elf::facts_of_file(&name, &bytes, Some(&file));
            facts.map(|facts| ImageFacts::Elf(Box::new(facts)))
        }
        Some((_, bytes)) => Err(ImageError::unrecognized(&name, &bytes, &error::IMAGE)),
        None => Err(ImageError::unrecognized(&name, &[], &error::IMAGE)),
    }
}

/// The build-id of an ELF file, in hexadecimal digits. Reads no more than its headers and notes.
/// `None` where the file has none, is no ELF file or cannot be read.
pub fn build_id(path: &Path) -> Option<String> {
    let (_, bytes) = map(path).ok()??;
    elf::build_id_of(&path.to_string_lossy(), &bytes).ok()?
}

/// The loader that an ELF program names (PT_INTERP). `None` where the file names none, is no ELF file or
/// cannot be read.
pub fn interpreter(path: &Path) -> Option<OsString> {
    let (_, bytes) = map(path).ok()??;
    elf::interpreter_of(&path.to_string_lossy(), &bytes).ok()?
}

/// A regular file and its bytes, mapped read-only; `None` for an empty one.
fn map(path: &Path) -> Result<Option<(File, Mmap)>, ImageError> {
    files::map(path).map_err(|error| match error {
        MapError::Io(source) => ImageError::Io { path: path.to_owned(), source },
        MapError::NotAFile(found) => ImageError::NotAFile { path: path.to_owned(), found },
    })
}

/// True for bytes that begin as an ELF file does.
pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

/// True for bytes that begin as a PE file does, and as DOS programs do.
pub fn is_pe(bytes: &[u8]) -> bool {
    bytes.starts_with(b"MZ")
}
