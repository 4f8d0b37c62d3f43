//! A program's copy in another folder, for optimizations that change one file.

use crate::{Built, NotBuilt, Program};
use image::elf::Loadable;
use rewrite::{Declined, Rewritten};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What a user should know of a copy of the program alone.
pub(crate) const NOTE: &str = "The program is a copy, and nothing is checked at start: after an \
     upgrade, the old copy still runs. Verifying this folder reports it; then make it again.";

/// The program's file.
///
/// # Errors
/// It cannot be read as an image.
pub(crate) fn opened(program: &Program) -> Result<Loadable, Declined> {
    Loadable::open(&program.file).map_err(|error| Declined(error.to_string()))
}

/// Writes the changed program into the folder, under its own name.
///
/// # Errors
/// The folder cannot be written to, or is full.
pub(crate) fn write<T>(
    program: &Program,
    folder: &Path,
    rewritten: Rewritten<'_, T>,
) -> Result<Built, NotBuilt> {
    let mut notes = rewritten.notes;
    notes.push(NOTE.to_owned());
    let run = folder.join(program.path.file_name().unwrap_or_default());
    let mode = program.file.metadata().map_or(0o755, |data| data.permissions().mode() & 0o777);
    files::write_new_edited(&run, &rewritten.edited, &program.file, mode)?;
    Ok(Built { run, replaced: vec![program.file.clone()], notes, ..Built::default() })
}
