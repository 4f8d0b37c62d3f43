//! Writing results to files that a user has named.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use super::text::is_no_text;
#[cfg(unix)]
use unix as host;
#[cfg(windows)]
use windows as host;

use crate::exit::{self, FileError, WithCode};
use crate::spared;
use anyhow::Result;
use files::{Permit, WriteError};
use host::{is_named_device, is_program};
use std::path::Path;

pub use host::is_named_pipe;

/// Whether a file can be written where it is to be: better said before the launches.
///
/// # Errors
/// Its folder is not there, it is a named pipe or a program, or what is there is no text.
pub fn may_be_written(path: &Path) -> Result<()> {
    let (found, remedy) = if !files::folder_of(path).is_dir() {
        ("its folder does not exist", "create it, or choose another file")
    } else if path.is_dir() {
        ("it is a folder", "choose a file in it")
    } else if is_named_pipe(path) {
        ("it is a named pipe, which waits for somebody who reads it", "choose a file")
    } else if is_named_device(path) {
        ("it is the name of a device", "choose a file")
    } else if is_program(path) {
        (
            "it is marked as a program (executable), which results do not replace",
            "choose another file",
        )
    } else {
        match is_no_text(path) {
            Ok(false) => return Ok(()),
            Ok(true) => (
                "it is no text file, such as an object file or a library, and results replace text \
                 only",
                "choose another file",
            ),
            Err(_) => ("it cannot be read, so its kind is not known", "choose another file"),
        }
    };
    Err(refused(path, found, remedy))
}

/// Whether a file can be written that is none of those that the command reads.
///
/// # Errors
/// As [`may_be_written`]; or it is one of the `inputs`, by whatever name, or in one that is a folder.
pub fn may_be_written_beside<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    if spared::is_among(path, inputs) {
        return Err(refused(
            path,
            "the command reads this file",
            "choose another file for the output",
        ));
    }
    may_be_written(path)
}

fn refused(path: &Path, found: &str, remedy: &'static str) -> anyhow::Error {
    let source = std::io::Error::other(found);
    FileError { path: path.display().to_string(), source, remedy }.into()
}

/// Writes a file whole or not at all. A link is followed; what could be started is not replaced.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    write_bytes(path, text.as_bytes())
}

/// [`write_file`] for what need not be text.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    may_be_written(path)?;
    let failed = |source| FileError {
        path: path.display().to_string(),
        source,
        remedy: "choose another file, or make room",
    };
    match files::write_named(path, bytes, Permit::Created(0o666)) {
        // It has its own next step.
        Err(error @ WriteError::Refused { .. }) => {
            Err(WithCode { code: exit::FILES, text: error.to_string() }.into())
        }
        written => Ok(written.map_err(|error| failed(error.into()))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_no_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gone/x.json");
        for error in [write_file(&file, "").unwrap_err(), may_be_written(&file).unwrap_err()] {
            let text = error.to_string();
            assert!(text.contains("gone/x.json: ") && !text.contains(".headstart-"), "{text}");
        }
        assert!(may_be_written(&folder.path().join("x.json")).is_ok());
        assert!(may_be_written(Path::new("x.json")).is_ok());
    }
}
