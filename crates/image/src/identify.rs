//! What a file is, by as short a look as will do: one descriptor, reads of 64 KiB at most in all,
//! never a mapping.
//!
//! A program that is started after the look must find the system as it was before: no page of it
//! driven out, and few brought in. The first 4 KiB decide on nearly every file. Of an image the
//! few ranges are read that its headers lead to (the dynamic section of ELF, the import directory
//! of PE). What does not lie within the budget is reported as unknown.

mod archive;
mod coff;
mod dos;
mod elf;
mod fields;
mod mach_o;
mod other;
mod pe;
mod prefetch;
mod script;
mod source;
mod text;

pub use prefetch::COMPRESSED;
pub use source::BUDGET_BYTES;

use model::{FileKind, Identity};
use source::{ReadAt, START_BYTES, Source};
use std::fs::FileType;
use std::io;
use std::path::Path;

/// What the file at `path` is; symbolic links are followed. What is no regular file is never
/// opened.
///
/// # Errors
/// The file cannot be found, opened or read.
pub fn identify(path: &Path) -> io::Result<Identity> {
    identify_found(path, std::fs::metadata(path)?.file_type())
}

/// [`identify`] for a path of which a listing has told the type.
///
/// # Errors
/// The file cannot be opened or read.
pub fn identify_found(path: &Path, found: FileType) -> io::Result<Identity> {
    if !found.is_file() {
        return Ok(Identity { path: name(path), ..other::special(found) });
    }
    let file = files::open_for_few_reads(path)?;
    Ok(Identity { path: name(path), ..look(&file)? })
}

/// What a file of these bytes is, by the same reads.
pub fn identify_bytes(bytes: &[u8]) -> Identity {
    look(&bytes).unwrap_or_default()
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn look(file: &dyn ReadAt) -> io::Result<Identity> {
    let mut start = [0; START_BYTES];
    let mut source = Source::new(file, &mut start)?;
    let mut identity = recognize(&mut source);
    identity.bytes_read = source.finish()?;
    Ok(identity)
}

fn recognize(source: &mut Source) -> Identity {
    let start = source.start();
    if start.is_empty() {
        return Identity {
            kind: FileKind::Empty,
            detail: "no bytes".to_owned(),
            ..Identity::default()
        };
    }
    if crate::is_elf(start) {
        return elf::identify(source);
    }
    if dos::is_dos(start) {
        return dos::identify(source);
    }
    if script::is_script(start) {
        return script::identify(start);
    }
    archive::identify(start)
        .or_else(|| prefetch::identify(start))
        .or_else(|| mach_o::identify(start))
        .or_else(|| other::wasm(start))
        .or_else(|| other::bitcode(start))
        .or_else(|| coff::identify(start))
        .or_else(|| text::identify(start, source.is_whole()))
        .unwrap_or_else(|| other::identify(start))
}
