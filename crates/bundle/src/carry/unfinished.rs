//! The folder in which libraries beside a bundle are written, and into which old ones go to be removed: no bundle uses
//! what is in there, so headstart can be killed at any time. A mark tells it from a folder of the user's.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Name of the folder in that of a bundle.
pub(crate) const UNFINISHED: &str = ".lib.next";
/// The folder in it for what is written.
const NEW: &str = "new";
/// The one for what is removed.
const OLD: &str = "old";
/// Its first file, and the last one to go.
const MARK: &str = "made-by-headstart";
const SENTENCE: &str =
    "headstart writes and removes libraries here. Nothing in this folder is in use.\n";

/// Refuses what headstart does not know as its own.
///
/// # Errors
/// Something else has this name, or it cannot be looked at.
pub(crate) fn check(folder: &Path) -> io::Result<()> {
    let place = folder.join(UNFINISHED);
    match place.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(data) if data.is_dir() && is_ours(&place)? => Ok(()),
        Ok(_) => Err(io::Error::new(ErrorKind::AlreadyExists, "headstart has not made it")),
    }
}

/// Removes what an earlier headstart has left, and nothing else.
///
/// # Errors
/// As for [`check`], or it cannot be removed.
pub(crate) fn clear(folder: &Path) -> io::Result<()> {
    check(folder)?;
    let place = folder.join(UNFINISHED);
    for name in [NEW, OLD] {
        absent(std::fs::remove_dir_all(place.join(name)))?;
    }
    absent(std::fs::remove_file(place.join(MARK)))?;
    absent(std::fs::remove_dir(place))
}

/// An empty folder for files that are written.
///
/// # Errors
/// As for [`clear`], or it cannot be made.
pub(crate) fn start(folder: &Path) -> io::Result<PathBuf> {
    let new = enter(folder)?.join(NEW);
    std::fs::create_dir(&new)?;
    Ok(new)
}

/// Gives the folder of files that are written its place, where nothing is yet.
///
/// # Errors
/// It does not get it.
pub(crate) fn publish(folder: &Path, place: &Path) -> io::Result<()> {
    std::fs::rename(folder.join(UNFINISHED).join(NEW), place)?;
    files::sync_folder_of(place)?;
    clear(folder)
}

/// Removes a folder that headstart has made: it loses its name at once.
///
/// # Errors
/// It keeps its name, or something is left for the next [`clear`].
pub(crate) fn discard(folder: &Path, place: &Path) -> io::Result<()> {
    std::fs::rename(place, enter(folder)?.join(OLD))?;
    clear(folder)
}

/// Makes the folder, with its mark.
fn enter(folder: &Path) -> io::Result<PathBuf> {
    clear(folder)?;
    let place = folder.join(UNFINISHED);
    std::fs::create_dir(&place)?;
    let mut mark = File::create_new(place.join(MARK))?;
    mark.write_all(SENTENCE.as_bytes())?;
    mark.sync_all()?;
    Ok(place)
}

/// Whether there is the mark, and nothing that headstart does not put there. Before the mark is whole there is
/// nothing else.
fn is_ours(place: &Path) -> io::Result<bool> {
    let (mut marked, mut others) = (false, false);
    for entry in place.read_dir()? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        match name.to_str() {
            Some(MARK) if kind.is_file() => marked = true,
            Some(NEW | OLD) if kind.is_dir() => others = true,
            _ => return Ok(false),
        }
    }
    if !marked {
        return Ok(!others);
    }
    let mut found = Vec::new();
    let most = SENTENCE.len() as u64 + 1;
    File::open(place.join(MARK))?.take(most).read_to_end(&mut found)?;
    let whole = found == SENTENCE.as_bytes();
    Ok(whole || !others && SENTENCE.as_bytes().starts_with(&found))
}

/// What is not there is removed.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use std::fs;

    /// Each state in which a kill can leave it.
    fn left(step: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(UNFINISHED);
        fs::create_dir(&place).unwrap();
        if step > 0 {
            let written = SENTENCE.len().min((step - 1) * 20);
            fs::write(place.join(MARK), &SENTENCE[..written]).unwrap();
        }
        for name in [NEW, OLD].into_iter().filter(|_| step == 6) {
            fs::create_dir(place.join(name)).unwrap();
            fs::write(place.join(name).join("half.so"), "half of it").unwrap();
        }
        folder
    }

    #[test]
    fn what_a_killed_headstart_left_goes() {
        for step in 0..=6 {
            let folder = left(step);
            clear(folder.path()).unwrap();
            assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{step}");
            clear(folder.path()).unwrap();
            let new = start(left(step).path()).unwrap();
            assert!(new.ends_with(".lib.next/new"));
        }
    }

    #[test]
    fn what_the_user_has_put_there_stays() {
        for step in 0..=6 {
            let folder = left(step);
            let place = folder.path().join(UNFINISHED);
            fs::write(place.join("precious"), "of the user").unwrap();
            let old = folder.path().join("lib-0");
            fs::create_dir(&old).unwrap();
            let count = place.read_dir().unwrap().count();
            clear(folder.path()).unwrap_err();
            start(folder.path()).unwrap_err();
            discard(folder.path(), &old).unwrap_err();
            assert_eq!((place.read_dir().unwrap().count(), old.exists()), (count, true), "{step}");
        }
        // A file, a link, and a mark that says something else.
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(UNFINISHED);
        fs::write(&place, "of the user").unwrap();
        clear(folder.path()).unwrap_err();
        fs::remove_file(&place).unwrap();
        let other = left(6);
        std::os::unix::fs::symlink(other.path().join(UNFINISHED), &place).unwrap();
        clear(folder.path()).unwrap_err();
        fs::write(other.path().join(UNFINISHED).join(MARK), "another").unwrap();
        clear(other.path()).unwrap_err();
        assert_eq!(other.path().join(UNFINISHED).read_dir().unwrap().count(), 3);
    }
}
