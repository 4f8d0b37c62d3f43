//! Static facts of executable images: what a file's tables say, without running it.
//!
//! Everything read here is untrusted: a damaged file gives an error or facts with
//! [`problems`](model::ImageFacts::problems), never a panic, and time and memory stay in
//! proportion to the file's size.

pub mod apply;
pub mod edit;
mod elf;
mod error;
mod file;
mod functions;
pub mod identify;
mod lines;
pub mod loadable;
pub mod spec;

pub use error::ImageError;
pub use functions::{DEBUG_FOLDER, Function, Placed, code, functions, functions_of};
pub use lines::{Line, lines};
pub use loadable::Loadable;

use model::ImageFacts;
use std::path::Path;

/// Static facts of the image file at `path`, which is mapped read-only.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is not ELF.
pub fn facts(path: &Path) -> Result<ImageFacts, ImageError> {
    let name = path.to_string_lossy();
    match file::map(path)? {
        Some((file, bytes)) => elf::facts(&name, &bytes, Some(&file)),
        None => facts_of(&name, &[]),
    }
}

/// Static facts of the image in `bytes`; `path` is only its name in the facts and errors.
///
/// Format: System V ABI (gABI), chapters 4 and 5, with the GNU extensions.
///
/// # Errors
/// The bytes are not ELF, or end within the ELF header.
pub fn facts_of(path: &str, bytes: &[u8]) -> Result<ImageFacts, ImageError> {
    elf::facts(path, bytes, None)
}

/// True for bytes that begin as an ELF file does.
pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}
