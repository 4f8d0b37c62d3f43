//! Writing one file: a new one, or over an older version.

use crate::content::Content;
use crate::folder::{Folder, folder_of};
use crate::host::kind::is_device;
use crate::host::permissions::mode;
use crate::new_file::NewFile;
use crate::{Edited, WriteError};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// So many links the system follows (path_resolution(7)).
const LINKS: usize = 40;

/// The permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Exactly these (`0o755`).
    Exactly(u32),
    /// These as far as umask(2) leaves them, as of any file that a user creates.
    Created(u32),
}

impl Permit {
    /// Those of the file at `path`, or else of a new one.
    pub(crate) fn of_present(path: &Path, new: Permit) -> Permit {
        let present = path.metadata().map(|data| mode(&data) & 0o777);
        present.map_or(new, Permit::Exactly)
    }

    pub(crate) fn mode(self) -> u32 {
        match self {
            Permit::Exactly(mode) | Permit::Created(mode) => mode,
        }
    }
}

/// Writes a new file; an existing one is never replaced.
///
/// # Errors
/// There is one already, its folder cannot be written to, or the disk is full; nothing is left
/// then.
pub fn write_new(path: &Path, content: &[u8], permit: Permit) -> Result<(), WriteError> {
    absent(path)?;
    let new = NewFile::create(&Folder::of(path)?, path, permit)?;
    new.fill(|mut file| file.write_all(content))?.synced()?.name()?.sync()
}

/// Writes a rewritten image as a new file. What has not changed is read from the file `original`,
/// where the image is from that: it takes little memory, and holes stay holes.
///
/// # Errors
/// As [`write_new`], or `original` was changed meanwhile.
pub fn write_new_edited(
    path: &Path,
    edited: &Edited<'_>,
    original: &Path,
    mode: u32,
) -> Result<(), WriteError> {
    absent(path)?;
    let content = Content::of(edited, original);
    let new = NewFile::create(&Folder::of(path)?, path, Permit::Exactly(mode))?;
    let new = new.fill(|file| content.write(file)).and_then(NewFile::synced);
    content.unless_changed(original, new)?.name()?.sync()
}

/// Writes a rewritten image into an empty file, as [`write_new_edited`] does.
///
/// # Errors
/// What the system says, or `original` was changed meanwhile.
pub fn write_into(file: &File, edited: &Edited<'_>, original: &Path) -> io::Result<()> {
    let content = Content::of(edited, original);
    let written = content.write(file);
    content.unless_changed(original, Ok(())).map_err(io::Error::other)?;
    written
}

/// Writes a file of headstart's own: a new one with these permissions, or over an older version,
/// whose permissions it keeps.
///
/// # Errors
/// Its folder cannot be written to, or the disk is full; it is as it was then.
pub fn write_over(path: &Path, content: &[u8], permit: Permit) -> Result<(), WriteError> {
    let permit = Permit::of_present(path, permit);
    let new = NewFile::create(&Folder::of(path)?, path, permit)?;
    new.fill(|mut file| file.write_all(content))?.synced()?.replace()?.sync()
}

/// Writes a file that a user has named: into a device or pipe, which nothing may replace, else as
/// [`write_over`]. A link is followed, also one that leads to no file yet.
///
/// # Errors
/// As [`write_over`]; a device may have taken a part.
pub fn write_named(path: &Path, content: &[u8], permit: Permit) -> Result<(), WriteError> {
    if is_device(path) {
        return std::fs::write(path, content).map_err(WriteError::io(path, "writing it"));
    }
    write_over(&followed(path)?, content, permit)
}

/// The file that the path leads to, which need not be there.
fn followed(path: &Path) -> Result<PathBuf, WriteError> {
    let mut real = path.to_owned();
    for _ in 0..LINKS {
        match std::fs::read_link(&real) {
            Ok(target) => real = folder_of(&real).join(target),
            Err(_) => return Ok(real),
        }
    }
    Err(WriteError::refused(path, "it is a link that leads to itself; choose another file"))
}

/// Makes sure that the names in the folder of `path` are on the disk. One that may be written to but
/// not read cannot be asked to.
///
/// # Errors
/// What the system says.
pub fn sync_folder_of(path: &Path) -> Result<(), WriteError> {
    Folder::of(path)?.sync()
}

fn absent(path: &Path) -> Result<(), WriteError> {
    match path.symlink_metadata() {
        Ok(_) => Err(WriteError::Exists(path.to_owned())),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use std::fs;
    use std::os::unix::fs::{FileTypeExt, symlink};

    #[test]
    fn links_stay_and_what_they_lead_to_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("d")).unwrap();
        symlink("d/far", at("near")).unwrap();
        symlink("real", at("d/far")).unwrap();
        for text in ["new", "over an older one"] {
            write_named(&at("near"), text.as_bytes(), Permit::Created(0o666)).unwrap();
            assert_eq!(fs::read_to_string(at("d/real")).unwrap(), text);
        }
        assert!(at("near").is_symlink() && at("d/far").is_symlink());
        symlink("self", at("self")).unwrap();
        let refused = write_named(&at("self"), b"", Permit::Created(0o666));
        assert!(matches!(refused, Err(WriteError::Refused { .. })), "{refused:?}");
        assert!(at("self").is_symlink());
    }

    #[test]
    fn a_pipe_is_written_into_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_named(&pipe, b"words", Permit::Created(0o666)).unwrap();
        assert_eq!(reader.join().unwrap(), b"words");
        assert!(pipe.metadata().unwrap().file_type().is_fifo());
    }
}
