//! A file gets the place of another in one step, so that there is one at any moment.

use crate::ProgramError;
use files::{Attributes, Draft, Permit, folder_of};
use std::ffi::OsString;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// Whether two paths lead to one file, links not followed.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.symlink_metadata().ok().map(|data| (data.dev(), data.ino()));
    identity(one).is_some() && identity(one) == identity(other)
}

/// Whether there is something at a path.
pub(crate) fn is_there(path: &Path) -> Result<bool, ProgramError> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(ProgramError::io(path)(error)),
    }
}

/// Puts the file at `from` at `to` as well, in the place of what is there: by another link, or as a
/// copy where it is in another file system.
pub(crate) fn link_over(from: &Path, to: &Path) -> Result<(), ProgramError> {
    if same(from, to) {
        return Ok(());
    }
    let hidden = hidden(to);
    remove(&hidden)?;
    match fs::hard_link(from, &hidden) {
        Ok(()) => {}
        // Some file systems have no links either.
        Err(error) if is_for_a_copy(&error) => return copy_over(from, to),
        Err(error) => return Err(ProgramError::io(&hidden)(error)),
    }
    fs::rename(&hidden, to).map_err(|error| {
        let _ = fs::remove_file(&hidden);
        ProgramError::io(to)(error)
    })?;
    Ok(files::sync_folder_of(to)?)
}

fn is_for_a_copy(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::CrossesDevices
            | ErrorKind::Unsupported
            | ErrorKind::TooManyLinks
            | ErrorKind::PermissionDenied
    )
}

/// The same by a copy, which has everything that the file has.
pub(crate) fn copy_over(from: &Path, to: &Path) -> Result<(), ProgramError> {
    let mut source = File::open(from).map_err(ProgramError::io(from))?;
    let data = source.metadata().map_err(ProgramError::io(from))?;
    let draft = Draft::written(to, Permit::Exactly(0o600), |mut file| {
        io::copy(&mut source, &mut file).map(drop)
    })?;
    dress_file(draft.file(), &source, &data).map_err(ProgramError::io(to))?;
    draft.file().sync_all().map_err(ProgramError::io(to))?;
    draft.replace()?;
    Ok(files::sync_folder_of(to)?)
}

/// Gives the file at `path` the owner, mode, attributes and times of another.
pub(crate) fn dress(path: &Path, like: &Path) -> Result<(), ProgramError> {
    let like = File::open(like).map_err(ProgramError::io(like))?;
    let data = like.metadata().map_err(ProgramError::io(path))?;
    let file = File::open(path).map_err(ProgramError::io(path))?;
    dress_file(&file, &like, &data).map_err(ProgramError::io(path))
}

fn dress_file(file: &File, like: &File, data: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (data.uid(), data.gid()) {
        fchown(file, Some(data.uid()), Some(data.gid()))?;
    }
    Attributes::of(like).add_to(file)?;
    file.set_permissions(Permissions::from_mode(data.mode() & 0o7777))?;
    file.set_times(FileTimes::new().set_modified(data.modified()?).set_accessed(data.accessed()?))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), ProgramError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(ProgramError::io(path)(error)),
        _ => Ok(()),
    }
}

/// Removes what a killed headstart has left beside a file.
pub(crate) fn remove_left(path: &Path) -> Result<(), ProgramError> {
    remove(&hidden(path))?;
    // Where its folder is gone, so is everything in it.
    if folder_of(path).is_dir() {
        Draft::remove_left(path)?;
    }
    Ok(())
}

/// Makes a folder and those that it is in. What root installs is for all users, whatever root's umask.
pub(crate) fn make_folder(folder: &Path) -> Result<(), ProgramError> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(folder).map_err(ProgramError::io(folder))?;
    for folder in missing.into_iter().filter(|_| os::host::user() == 0) {
        let mode = Permissions::from_mode(0o755);
        fs::set_permissions(folder, mode).map_err(ProgramError::io(folder))?;
    }
    Ok(())
}

/// A name beside a file that nobody else uses.
fn hidden(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".headstart-link");
    path.with_file_name(name)
}
