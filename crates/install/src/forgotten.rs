//! Programs whose state is gone: the diversion is still there, and nothing else knows of it.

use crate::diversion::{ENDING, original_of, program_of};
use crate::dpkg::names;
use crate::{InstallPlaces, ProgramError, journal};
use model::{quoted, quoted_path};
use std::path::PathBuf;

/// What puts the program back that is called so, if it is diverted as headstart does it.
pub(crate) fn forgotten(places: &InstallPlaces, named: &str) -> Option<ProgramError> {
    let dpkg = places.dpkg.as_ref()?;
    let (journals, unreadable) = journal::all(&places.state).ok()?;
    let program = path_of(named)?;
    // One that cannot be read may be its state.
    if !unreadable.is_empty() || journals.iter().any(|journal| journal.program() == program) {
        return None;
    }
    let original = original_of(&program);
    if original.symlink_metadata().is_err() {
        return None;
    }
    let is_ours = |known_as: &PathBuf| {
        let to = dpkg.diverted_to(known_as).ok().flatten();
        to.as_ref() == Some(&original_of(known_as))
    };
    let known_as = names(&program).into_iter().find(is_ours)?;
    let found = format!(
        "headstart has put a bundle here, and its state, which was in {}, is gone; to put the original back: \
         mv {} {} && dpkg-divert --local --no-rename --remove {}",
        quoted_path(&places.state),
        quoted(&original),
        quoted(&program),
        quoted(&known_as),
    );
    Some(ProgramError::in_the_way(&program, found))
}

/// All of them.
pub(crate) fn all(places: &InstallPlaces) -> Vec<ProgramError> {
    let diverted = places.dpkg.as_ref().and_then(|dpkg| dpkg.diverted_as(ENDING).ok());
    let diverted = diverted.unwrap_or_default();
    diverted.iter().filter_map(|path| forgotten(places, &path.display().to_string())).collect()
}

/// The first name of the program, by either of its names.
fn path_of(named: &str) -> Option<PathBuf> {
    let path = match named.contains('/') {
        true => std::path::absolute(named).ok()?,
        false => os::program::resolve(&[named]).ok()?.program,
    };
    let (folder, name) = (path.parent()?.canonicalize().ok()?, path.file_name()?);
    let path = folder.join(name);
    Some(program_of(&path).unwrap_or(path))
}
