//! A standard stream of launched programs.

use super::LaunchError;
use crate::stdio::Stdio;
use std::fs::File;
use std::io::{PipeReader, PipeWriter};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::ptr;
use std::sync::Arc;
use windows_sys::Win32::Foundation::{
    DUPLICATE_SAME_ACCESS, DuplicateHandle, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// One standard stream of a launched program. Clones are the same open stream, which is closed with
/// the last of them.
#[derive(Clone, Debug)]
pub struct Stream(Source);

#[derive(Clone, Debug)]
enum Source {
    /// headstart's own of this kind.
    Own(STD_HANDLE),
    Open(Arc<File>),
}

impl Stream {
    /// `NUL`.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn null() -> Result<Stream, LaunchError> {
        null_device().map(Stream::from)
    }

    /// headstart's own stdin.
    pub fn stdin() -> Stream {
        Stream(Source::Own(STD_INPUT_HANDLE))
    }

    /// headstart's own stdout.
    pub fn stdout() -> Stream {
        Stream(Source::Own(STD_OUTPUT_HANDLE))
    }

    /// headstart's own stderr.
    pub fn stderr() -> Stream {
        Stream(Source::Own(STD_ERROR_HANDLE))
    }

    /// Another handle of it, which a program inherits that is started with it in its list.
    fn inheritable(&self) -> Result<OwnedHandle, LaunchError> {
        match &self.0 {
            // SAFETY: no pointer is passed.
            Source::Own(kind) => match unsafe { GetStdHandle(*kind) } {
                // headstart was started without it.
                none if none.is_null() || none == INVALID_HANDLE_VALUE => {
                    duplicate(null_device()?.as_raw_handle())
                }
                own => duplicate(own),
            },
            Source::Open(file) => duplicate(file.as_raw_handle()),
        }
    }
}

impl From<File> for Stream {
    fn from(file: File) -> Stream {
        Stream(Source::Open(Arc::new(file)))
    }
}

/// For whoever reads or empties the file, too: its position is the program's.
impl From<Arc<File>> for Stream {
    fn from(file: Arc<File>) -> Stream {
        Stream(Source::Open(file))
    }
}

impl From<PipeReader> for Stream {
    fn from(end: PipeReader) -> Stream {
        File::from(OwnedHandle::from(end)).into()
    }
}

impl From<PipeWriter> for Stream {
    fn from(end: PipeWriter) -> Stream {
        File::from(OwnedHandle::from(end)).into()
    }
}

impl Stdio {
    /// Handles of stdin, stdout and stderr, all different, which a program can inherit. They keep the
    /// streams open.
    pub(super) fn inheritable(&self) -> Result<[OwnedHandle; 3], LaunchError> {
        Ok([self.stdin.inheritable()?, self.stdout.inheritable()?, self.stderr.inheritable()?])
    }
}

/// `NUL`, for reading and writing.
fn null_device() -> Result<File, LaunchError> {
    let failed = LaunchError::failed("NUL could not be opened", "close other programs");
    File::options().read(true).write(true).open("NUL").map_err(failed)
}

fn duplicate(handle: RawHandle) -> Result<OwnedHandle, LaunchError> {
    let mut other = ptr::null_mut();
    // SAFETY: the handle is open in this process and `other` outlives the call; where it succeeds,
    // nobody else owns the new handle.
    unsafe {
        let own = GetCurrentProcess();
        match DuplicateHandle(own, handle, own, &mut other, 0, 1, DUPLICATE_SAME_ACCESS) {
            0 => Err(LaunchError::system(
                "stdin, stdout and stderr could not be passed to the program",
                "redirect the one that is closed to NUL",
            )),
            _ => Ok(OwnedHandle::from_raw_handle(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_stream_is_closed_with_its_last_clone() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let first = Stdio::null().unwrap().with_output(writer);
        let handles = first.inheritable().unwrap();
        let raw = handles.each_ref().map(AsRawHandle::as_raw_handle);
        assert!(raw[0] != raw[1] && raw[1] != raw[2]);
        let second = first.clone();
        drop((first, handles));
        drop(second);
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    }
}
