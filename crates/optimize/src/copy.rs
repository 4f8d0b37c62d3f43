//! A program's copy in another folder, for optimisations that change one file.

use crate::{Built, Declined, NotBuilt, Program, origin};
use image::Edited;
use image::apply;
use image::elf::Loadable;
use image::elf::edit::{Edit, EditError};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What a user should know of a copy of the program alone.
pub(crate) const NOTE: &str = "The program is a copy, and nothing is checked at start: after an \
     upgrade, the old copy still runs. `headstart verify DIR` reports this; then make it again.";

/// The program as it has to be to find its libraries from another folder: `$ORIGIN` has become the
/// folder of the original.
///
/// # Errors
/// It cannot be read, or what it names cannot be replaced.
pub(crate) fn movable(program: &Program) -> Result<Loadable, Declined> {
    let open = Loadable::open(&program.file);
    let image = open.map_err(|error| Declined(error.to_string()))?;
    let folder = program.file.parent().unwrap_or(Path::new("/"));
    let plain = |error: EditError| Declined(error.to_string());
    let mut edit = Edit::of(&image).map_err(plain)?;
    if !origin::settle(&mut edit, &image, folder) {
        return Ok(image);
    }
    let bytes = edit.finish().map_err(plain)?.to_bytes();
    let name = program.file.display().to_string();
    Loadable::from_bytes(&name, bytes).map_err(|error| Declined(error.to_string()))
}

/// Writes the changed program into the folder, under its own name.
///
/// # Errors
/// The folder cannot be written to, or is full.
pub(crate) fn write(
    program: &Program,
    folder: &Path,
    edited: &Edited<'_>,
    mut notes: Vec<String>,
) -> Result<Built, NotBuilt> {
    notes.push(NOTE.to_owned());
    let run = folder.join(program.path.file_name().unwrap_or_default());
    let mode = program.file.metadata().map_or(0o755, |data| data.permissions().mode() & 0o777);
    apply::write_new_edited(&run, edited, &program.file, mode)?;
    Ok(Built { run, replaced: vec![program.file.clone()], notes, ..Built::default() })
}
