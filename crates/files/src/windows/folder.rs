//! A folder that files are written to, by its path: Windows renames no folder in which somebody has
//! a file open.

use super::patience::patiently;
use crate::Stamp;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use windows_sys::Win32::Foundation::{GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_SHARE_READ, FILE_SHARE_WRITE, MOVEFILE_WRITE_THROUGH, MoveFileExW, READ_CONTROL, WRITE_DAC,
};

/// A folder that files are written to.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    path: PathBuf,
}

impl OpenFolder {
    pub(crate) fn open(path: &Path) -> io::Result<OpenFolder> {
        match path.metadata()?.is_dir() {
            true => Ok(OpenFolder { path: std::path::absolute(path)? }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Names are in the journal of the file system once they are given.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        patiently(|| std::fs::remove_file(self.path.join(name)))
    }

    /// Removes a hidden file that a killed run has left: one that is at work has it open so that it
    /// cannot be removed.
    pub(crate) fn remove_left(&self, hidden: &OsStr) -> bool {
        std::fs::remove_file(self.path.join(hidden)).is_ok()
    }

    /// The file of this name as it is now; `None` where there is none.
    pub(crate) fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        Stamp::now(&self.path.join(name))
    }

    /// Whether this name leads to this open file.
    pub(crate) fn is_file(&self, name: &OsStr, file: &File) -> bool {
        let (named, opened) = (self.stamp(name), Stamp::of_file(file));
        named.zip(opened).is_some_and(|(named, opened)| named.identity == opened.identity)
    }

    /// A new file. It cannot be removed or renamed while it is open.
    pub(crate) fn create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        options.access_mode(GENERIC_READ | GENERIC_WRITE | READ_CONTROL | WRITE_DAC);
        options.share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE).open(self.path.join(name))
    }

    /// A file open for reading.
    pub(crate) fn read(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE).open(self.path.join(name))
    }

    /// Windows has no files without names.
    pub(crate) fn nameless(&self, _mode: u32) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// No file is without a name.
    pub(crate) fn name(&self, _file: &File, _name: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives a file another name, in the place of what has it.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        patiently(|| std::fs::rename(self.path.join(from), self.path.join(to)))
    }

    /// As [`OpenFolder::rename`], where nothing may have the name.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (wide(&self.path.join(from))?, wide(&self.path.join(to))?);
        patiently(|| {
            // SAFETY: both are NUL-terminated and outlive the call.
            #[allow(unsafe_code)]
            let moved = unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_WRITE_THROUGH) };
            if moved == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        })
    }
}

/// The path as the system takes it. A long one needs a prefix, which absolute paths can have.
fn wide(path: &Path) -> io::Result<Vec<u16>> {
    /// MAX_PATH; folders have less.
    const LONGEST: usize = 240;
    let mut wide: Vec<u16> = path.as_os_str().encode_wide().collect();
    if wide.contains(&0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let verbatim = OsStr::new(r"\\?\").encode_wide();
    if wide.len() >= LONGEST && !wide.starts_with(&verbatim.clone().collect::<Vec<_>>()) {
        let text = path.as_os_str().as_encoded_bytes();
        // A share: \\server\share becomes \\?\UNC\server\share.
        wide = match text.starts_with(br"\\") {
            true => OsStr::new(r"\\?\UNC").encode_wide().chain(wide.into_iter().skip(1)).collect(),
            false => verbatim.chain(wide).collect(),
        };
    }
    wide.push(0);
    Ok(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_there_is_not_taken() {
        let place = tempfile::tempdir().unwrap();
        let folder = OpenFolder::open(place.path()).unwrap();
        let (hidden, name) = (OsStr::new(".hidden"), OsStr::new("file"));
        std::fs::write(place.path().join(hidden), "new").unwrap();
        folder.rename_new(hidden, name).unwrap();
        std::fs::write(place.path().join(hidden), "newer").unwrap();
        let refused = folder.rename_new(hidden, name).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(place.path().join(name)).unwrap(), b"new");
        folder.rename(hidden, name).unwrap();
        assert_eq!(std::fs::read(place.path().join(name)).unwrap(), b"newer");
    }

    #[test]
    fn an_open_hidden_file_is_not_taken_for_a_left_one() {
        let place = tempfile::tempdir().unwrap();
        let folder = OpenFolder::open(place.path()).unwrap();
        let hidden = OsStr::new(".hidden");
        let file = folder.create(hidden, 0o644).unwrap();
        assert!(!folder.remove_left(hidden));
        assert!(folder.is_file(hidden, &file));
        drop(file);
        assert!(folder.remove_left(hidden));
    }

    #[test]
    fn long_paths_have_the_prefix() {
        let long = "x".repeat(250);
        let of = |path: String| String::from_utf16(&wide(Path::new(&path)).unwrap()).unwrap();
        assert_eq!(of(format!(r"C:\{long}")), format!("\\\\?\\C:\\{long}\0"));
        assert_eq!(of(format!(r"\\s\{long}")), format!("\\\\?\\UNC\\s\\{long}\0"));
        assert_eq!(of(r"C:\x".to_owned()), "C:\\x\0");
    }
}
