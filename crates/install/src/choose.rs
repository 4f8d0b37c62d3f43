//! How a program comes to be started: at the path of the original, or through a link.

use crate::diversion::original_of;
use crate::made::Launched;
use crate::{InstallPlaces, ProgramError, guard, linked, refuse, swap};
use model::{ProgramPlace, text};
use std::ffi::OsStr;
use std::path::Path;

/// Whether a program may be replaced at all: nothing is changed.
pub(crate) fn permitted(
    places: &InstallPlaces,
    (named, file): (&Path, &Path),
    library_path: Option<&OsStr>,
    fixed: bool,
) -> Result<(), ProgramError> {
    let graph = refuse::graph(&Launched { program: file, file, library_path })?;
    refuse::check((file, named), &graph, fixed)?;
    if places.guarded {
        let found = guard::check(named, &graph, library_path);
        found.map_err(|reason| ProgramError::declined(file, reason))?;
    }
    Ok(())
}

/// Whether a launch that starts a program by its path would start what is installed: only a diverted
/// program has that path.
///
/// # Errors
/// It would not, or the program is declined: why.
pub fn is_diverted_by_path(
    places: &InstallPlaces,
    program: &Path,
    library_path: Option<&OsStr>,
    fixed: bool,
) -> Result<(), String> {
    let answer = || {
        let file = program.canonicalize().map_err(ProgramError::io(program))?;
        permitted(places, (program, &file), library_path, fixed)?;
        place(places, program, &file)
    };
    match answer() {
        Ok(ProgramPlace::Diversion { .. }) => Ok(()),
        Ok(ProgramPlace::Folder { .. }) => Err("no package of dpkg owns it".to_owned()),
        Err(ProgramError::Declined { reason, .. }) => Err(reason),
        Err(error) => Err(error.to_string()),
    }
}

/// How the program is to be started, if nothing is in the way.
pub(crate) fn place(
    places: &InstallPlaces,
    named: &Path,
    file: &Path,
) -> Result<ProgramPlace, ProgramError> {
    if let Some(dpkg) = &places.dpkg
        && let Some(owner) = dpkg.owner(file)?
    {
        refuse::check_package(file, &owner, dpkg)?;
        if let Some(to) = dpkg.diverted_to(&owner.known_as)? {
            let by = dpkg.diverted_by(&owner.known_as)?;
            let reason = format!("{by} already diverts it to {}; it stays as it is", to.display());
            return Err(ProgramError::declined(file, reason));
        }
        if dpkg.is_diverted_here(file)? || dpkg.is_diverted_here(&owner.known_as)? {
            let reason = "another file is diverted to its path; it stays as it is";
            return Err(ProgramError::declined(file, reason));
        }
        let original = original_of(file);
        if swap::is_there(&original)? {
            let found = "headstart needs this name, but did not make the file that is there; see \
                             what it is, and move it away";
            return Err(ProgramError::in_the_way(&original, found));
        }
        return Ok(ProgramPlace::Diversion {
            original: text::text(&original),
            known_as: text::text(&owner.known_as),
            package: owner.package,
        });
    }
    let link = places.links.join(named.file_name().unwrap_or_default());
    if named.parent().is_some_and(|folder| is_folder(folder, &places.links)) {
        let reason = "no package owns it, so a link would be put ahead of it, but it is itself in \
                          the folder for links; name another folder that comes ahead of that in PATH";
        return Err(ProgramError::declined(file, reason));
    }
    linked::is_free(&link, &places.state)?;
    let (link, desktop_entries) = (text::text(&link), Vec::new());
    Ok(ProgramPlace::Folder { link, desktop_entries })
}

fn is_folder(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| Some(one) == other.canonicalize().ok())
}
