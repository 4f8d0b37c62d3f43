//! A program's copy in another folder, for optimisations that change one file.

use crate::{Built, Declined, Program};
use image::Loadable;
use image::apply;
use image::edit::{Edit, Edited};
use image::spec;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The program as it has to be to find its libraries from another folder: `$ORIGIN` in its search
/// paths has become the folder of the original.
///
/// # Errors
/// It cannot be read, or its search path cannot be replaced.
pub(crate) fn movable(program: &Program) -> Result<Loadable, Declined> {
    let open = Loadable::open(&program.file);
    let image = open.map_err(|error| Declined(error.to_string()))?;
    let folder = program.file.parent().unwrap_or(Path::new("/")).display().to_string();
    let paths = [(spec::DT_RPATH, &image.rpath), (spec::DT_RUNPATH, &image.runpath)];
    let relative = |path: &String| path.contains("$ORIGIN") || path.contains("${ORIGIN}");
    if !paths.iter().any(|(_, path)| path.as_ref().is_some_and(relative)) {
        return Ok(image);
    }
    let plain = |error: image::edit::EditError| Declined(error.to_string());
    let mut edit = Edit::of(&image).map_err(plain)?;
    for (tag, path) in paths {
        let Some(path) = path.as_ref().filter(|path| relative(path)) else { continue };
        let path = path.replace("${ORIGIN}", &folder).replace("$ORIGIN", &folder);
        let string = edit.add_string(path.as_bytes());
        edit.set_value(tag, string);
    }
    let bytes = edit.finish().map_err(plain)?.to_bytes();
    let name = program.file.display().to_string();
    Loadable::from_bytes(&name, bytes).map_err(|error| Declined(error.to_string()))
}

/// Writes the changed program into the folder, under its own name.
///
/// # Errors
/// The folder cannot be written to.
pub(crate) fn write(
    program: &Program,
    folder: &Path,
    edited: &Edited<'_>,
    notes: Vec<String>,
) -> Result<Built, Declined> {
    let run = folder.join(program.path.file_name().unwrap_or_default());
    let mode = program.file.metadata().map_or(0o755, |data| data.permissions().mode() & 0o777);
    let written = apply::write_new(&run, edited.pieces(), mode);
    written.map_err(|error| Declined(error.to_string()))?;
    Ok(Built { run, replaced: vec![program.file.clone()], notes })
}
