//! A standard stream of launched programs.

use super::error::LaunchError;
use crate::stdio::Stdio;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

/// One standard stream of a launched program. Clones are the same open stream, which is closed with
/// the last of them.
#[derive(Clone, Debug)]
pub struct Stream(Source);

#[derive(Clone, Debug)]
enum Source {
    /// headstart's own of this number, which nobody closes.
    Own(RawFd),
    Open(Arc<File>),
}

impl Stream {
    /// `/dev/null`.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn null() -> Result<Stream, LaunchError> {
        null_device().map(Stream::from)
    }

    /// headstart's own stdin.
    pub fn stdin() -> Stream {
        Stream(Source::Own(0))
    }

    /// headstart's own stdout.
    pub fn stdout() -> Stream {
        Stream(Source::Own(1))
    }

    /// headstart's own stderr.
    pub fn stderr() -> Stream {
        Stream(Source::Own(2))
    }

    /// One that is not open.
    #[cfg(test)]
    pub(super) fn closed() -> Stream {
        Stream(Source::Own(1_000_000))
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.0 {
            // SAFETY: the number is not negative, nobody closes these three as long as the process
            // runs, and they are only handed to the kernel, which refuses one that is not open.
            Source::Own(number) => unsafe { BorrowedFd::borrow_raw(*number) },
            Source::Open(file) => file.as_fd(),
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
        OwnedFd::from(end).into()
    }
}

impl From<PipeWriter> for Stream {
    fn from(end: PipeWriter) -> Stream {
        OwnedFd::from(end).into()
    }
}

impl From<OwnedFd> for Stream {
    fn from(descriptor: OwnedFd) -> Stream {
        File::from(descriptor).into()
    }
}

impl Stdio {
    /// Those that another process has sent; `None` where these are not three.
    pub(super) fn received(descriptors: Vec<OwnedFd>) -> Option<Stdio> {
        let three: [OwnedFd; 3] = descriptors.try_into().ok()?;
        let [stdin, stdout, stderr] = three.map(Stream::from);
        Some(Stdio { stdin, stdout, stderr })
    }

    /// stdin, stdout and stderr, to be sent.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 3] {
        [&self.stdin, &self.stdout, &self.stderr].map(Stream::descriptor)
    }

    /// Their numbers, for a child that shares this memory: nothing is allocated.
    pub(super) fn numbers(&self) -> [RawFd; 3] {
        self.descriptors().map(|descriptor| descriptor.as_raw_fd())
    }
}

/// `/dev/null`, for reading and writing.
pub(super) fn null_device() -> Result<File, LaunchError> {
    File::options().read(true).write(true).open("/dev/null").map_err(|source| LaunchError::System {
        action: "/dev/null could not be opened".into(),
        remedy: match source.kind() {
            io::ErrorKind::NotFound => "create it with: mknod -m 666 /dev/null c 1 3",
            io::ErrorKind::PermissionDenied => "let everybody use it: chmod 666 /dev/null",
            _ => "see the limit of open files (ulimit -n)",
        }
        .into(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{OFlags, fcntl_setfl};
    use std::io::Read;

    #[test]
    fn streams_are_what_was_asked_for() {
        assert_eq!(Stdio::inherited().numbers(), [0, 1, 2]);
        let null = Stdio::null().unwrap();
        let [stdin, stdout, stderr] = null.numbers();
        assert!(stdin > 2 && stdin == stdout && stdout == stderr);
        let mixed = null.clone().with_stdin(Stream::stdin()).with_output(Stream::stderr());
        assert_eq!(mixed.numbers(), [0, 2, 2]);
        let mixed = null.with_stdout(Stream::stdout()).with_stderr(Stream::stderr());
        assert_eq!(mixed.numbers(), [stdin, 1, 2]);
    }

    #[test]
    fn a_stream_is_closed_with_its_last_clone() {
        let (mut reader, writer) = io::pipe().unwrap();
        let first = Stdio::null().unwrap().with_output(writer);
        let second = first.clone();
        drop(first);
        fcntl_setfl(&reader, OFlags::NONBLOCK).unwrap();
        assert_eq!(reader.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(second);
        // Another test's child may have it open for a moment.
        fcntl_setfl(&reader, OFlags::empty()).unwrap();
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn descriptors_close_on_execve() {
        let (reader, writer) = io::pipe().unwrap();
        let stdio = Stdio::null().unwrap().with_stdin(reader).with_stdout(writer);
        for descriptor in stdio.descriptors() {
            let flags = rustix::io::fcntl_getfd(descriptor).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        }
        let received = stdio.descriptors().map(|one| one.try_clone_to_owned().unwrap());
        assert!(Stdio::received(received.into()).is_some());
        assert!(Stdio::received(Vec::new()).is_none());
    }
}
