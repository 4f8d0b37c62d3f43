//! A link to a bundle in a folder that comes ahead of the original's in PATH, and desktop entries.

use crate::journal::Journal;
use crate::placed::Placed;
use crate::stop::Stop;
use crate::{InstallPlaces, ProgramError, desktop, hash, swap};
use model::{InstallStep, ProgramPlace, quoted_path, text};
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The link of a program.
fn link(journal: &Journal) -> Option<PathBuf> {
    match &journal.state.place {
        ProgramPlace::Folder { link, .. } => Some(text::name(link).into()),
        ProgramPlace::Diversion { .. } => None,
    }
}

/// Whether a link leads into the folder of all programs, and to none there: it is left of a program whose
/// state is gone.
fn is_left(link: &Path, state: &Path) -> bool {
    let target = std::fs::read_link(link);
    target.is_ok_and(|target| target.starts_with(state) && !target.exists())
}

/// Whether a link can be made, in the place of one that is left at most.
pub(crate) fn is_free(link: &Path, state: &Path) -> Result<(), ProgramError> {
    if is_left(link, state) {
        return Ok(());
    }
    match link.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(ProgramError::io(link)(error)),
        Ok(_) => Err(ProgramError::in_the_way(
            link,
            "there is a file that headstart did not make, so it stays as it is: choose another \
             folder for the link, or move the file away",
        )),
    }
}

/// Makes the link, once the bundle is there, and copies desktop entries.
pub(crate) fn put_in_place(
    journal: &mut Journal,
    places: &InstallPlaces,
    stop: &Stop,
) -> Result<(), ProgramError> {
    let Some(link) = link(journal) else { return Ok(()) };
    // One that was left leads to the new bundle now.
    let was_left = is_in_place(journal) || is_left(&link, &places.state);
    if !was_left {
        is_free(&link, &places.state)?;
    }
    let folder = files::folder_of(&link).to_owned();
    Placed::note_folders(&places.state, &folder)?;
    // What is to be written is noted before.
    let program = journal.program();
    // Entries are known by the file that they start.
    let entries = desktop::planned(places, &program.canonicalize().unwrap_or(program))?;
    if let Some(own) = places.own_entries.as_ref().filter(|_| !entries.is_empty()) {
        Placed::note_folders(&places.state, own)?;
    }
    if let ProgramPlace::Folder { desktop_entries, .. } = &mut journal.state.place {
        *desktop_entries = entries.iter().map(|entry| text::text(&entry.at)).collect();
    }
    journal.state.ours = vec![hash::of(&journal.run())?];
    journal.write()?;
    stop.here()?;
    swap::make_folder(&folder)?;
    stop.here()?;
    if was_left {
        swap::remove(&link)?;
    }
    symlink(journal.run(), &link).map_err(ProgramError::io(&link))?;
    files::sync_folder_of(&link)?;
    stop.here()?;
    for entry in &entries {
        desktop::write(entry, &link, &places.undo_of(&journal.state.name))?;
        stop.here()?;
    }
    journal.reach(InstallStep::InPlace)
}

/// Whether the link leads to the bundle.
pub(crate) fn is_in_place(journal: &Journal) -> bool {
    link(journal)
        .is_some_and(|link| std::fs::read_link(link).is_ok_and(|target| target == journal.run()))
}

/// Everything is as it was. A link or an entry that somebody has replaced stays.
pub(crate) fn undo(mut journal: Journal, stop: &Stop) -> Result<(), ProgramError> {
    if journal.state.step == InstallStep::InPlace {
        journal.is_verified()?;
    }
    let _ = journal.reach(InstallStep::Removing);
    stop.here()?;
    if let Some(link) = link(&journal).filter(|_| is_in_place(&journal)) {
        std::fs::remove_file(&link).map_err(ProgramError::io(&link))?;
        files::sync_folder_of(&link)?;
    }
    stop.here()?;
    if let ProgramPlace::Folder { desktop_entries, .. } = &journal.state.place {
        for entry in desktop_entries {
            desktop::remove(Path::new(&text::name(entry)))?;
            stop.here()?;
        }
    }
    stop.here()?;
    journal.forget()
}

/// What a user has to do so that the link is what is started.
pub(crate) fn advice(link: &Path, program: &Path, path: &std::ffi::OsStr) -> Option<String> {
    let (name, folder) = (link.file_name()?, files::folder_of(link));
    let mut folders = std::env::split_paths(path);
    let first = folders.find(|folder| folder.join(name).metadata().is_ok());
    if first.as_deref() == Some(folder) {
        return None;
    }
    let shell = if std::env::var_os("SHELL")
        .is_some_and(|shell| shell.as_encoded_bytes().ends_with(b"/zsh"))
    {
        "~/.zprofile"
    } else {
        "~/.profile"
    };
    let (folder, program) = (quoted_path(folder), quoted_path(program));
    Some(format!(
        "{folder} does not come ahead of the folder of {program} in PATH, so the program's name still \
         starts the original: add this line to {shell} and log in again: PATH={folder}:$PATH"
    ))
}
