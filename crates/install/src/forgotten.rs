//! Programs whose state is gone: the diversion is still there, and nothing else knows of it.

use crate::diversion::{original_of, program_of};
use crate::dpkg::names;
use crate::{InstallPlaces, ProgramError, journal};
use model::{quoted, quoted_path};
use std::path::PathBuf;

/// What puts the program back that is called so, if it is diverted as headstart does it.
pub(crate) fn forgotten(places: &InstallPlaces, named: &str) -> Option<ProgramError> {
    let dpkg = places.dpkg.as_ref()?;
    // One that cannot be read may be its state.
    journal::all(&places.state).ok().filter(|(_, unreadable)| unreadable.is_empty())?;
    let program = path_of(named)?;
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
