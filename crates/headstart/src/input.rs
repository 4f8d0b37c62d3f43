//! Reading traces and maps whole: files, pipes and standard input, but nothing without an end.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as host;
#[cfg(windows)]
use windows as host;

use crate::exit::{FileError, Usage};
use anyhow::Result;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest trace or map: several times what the linker writes for a browser.
const LARGEST: u64 = 2 << 30;

/// The bytes of a trace or a map. A pipe is read to its end, as of `<(zcat FILE.gz)`; a named one
/// that nobody writes is waited for, as other tools do.
///
/// # Errors
/// It is a folder, a device or too large, or cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let too_large = || {
        let found = format!("it is larger than {} GiB", LARGEST >> 30);
        (io::Error::other(found), "give a trace, or a linker's map")
    };
    read_or(path, LARGEST, too_large)
}

/// [`read`] for short texts.
///
/// # Errors
/// As [`read`].
pub fn read_at_most(path: &Path, largest: u64) -> Result<Vec<u8>> {
    let too_large = || {
        let found = format!("it is larger than {} MiB", largest >> 20);
        (io::Error::other(found), "give a text file")
    };
    read_or(path, largest, too_large)
}

fn read_or(
    path: &Path,
    largest: u64,
    too_large: impl Fn() -> (io::Error, &'static str),
) -> Result<Vec<u8>> {
    if path.is_dir() {
        let text = format!("'{}' is a folder; give a file in it", path.display());
        return Err(Usage(text).into());
    }
    let failed = |source, remedy| FileError { path: path.display().to_string(), source, remedy };
    let unreadable = |source| failed(source, "check the path");
    // Before it is opened: devices may do something then.
    let file = match host::is_device(path).map_err(unreadable)? {
        false => File::open(path).map_err(unreadable)?,
        true => host::terminal(path).ok_or_else(|| {
            failed(io::Error::other("it is a device, which may have no end"), "give a file")
        })?,
    };
    read_up_to(file, largest).map_err(unreadable)?.ok_or_else(|| {
        let (found, remedy) = too_large();
        failed(found, remedy).into()
    })
}

/// All bytes, unless there are more than `largest`.
fn read_up_to(file: File, largest: u64) -> io::Result<Option<Vec<u8>>> {
    let told = file.metadata()?.len();
    if told > largest {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(told).unwrap_or(0));
    let read = file.take(largest + 1).read_to_end(&mut bytes)? as u64;
    Ok((read <= largest).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_is_too_large_is_not_read_whole() {
        let file = || {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"12345").unwrap();
            io::Seek::rewind(&mut file).unwrap();
            file
        };
        assert_eq!(read_up_to(file(), 5).unwrap().as_deref(), Some(&b"12345"[..]));
        assert_eq!(read_up_to(file(), 4).unwrap(), None);
    }
}
