//! A process that puts something in order where headstart is killed.
//!
//! It is in a session of its own, so that neither Ctrl-C nor a signal to headstart's process group
//! reaches it.

use super::launcher::guardian::close_all_but;
use super::launcher::leave::{self, told_to_leave};
use super::processes;
use rustix::process::{Signal, WaitOptions, setsid};
use std::ffi::CStr;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How often it is looked whether the process is told to leave.
const LOOK_UP: Duration = Duration::from_millis(200);

/// The process, seen from headstart. It ends when dropped.
pub(super) struct Guard {
    stream: UnixStream,
    pid: libc::pid_t,
}

impl Guard {
    /// Starts a process with this name that keeps these descriptors, and waits until it watches. Its
    /// `life` ends when [`hear`] hears nothing more.
    pub(super) fn living(
        name: &CStr,
        kept: &[RawFd],
        life: impl FnOnce(&mut UnixStream),
    ) -> io::Result<Guard> {
        let (stream, pid) = leave::fork(|mut stream, parent| {
            leave::listen();
            close_all_but(&[&[stream.as_raw_fd()], kept].concat());
            let _ = setsid();
            // Where headstart has gone already, the stream ends at once.
            let _ = leave::lives_with(parent, name);
            // A signal that comes just before a read is noticed with the next look.
            let _ = stream.set_read_timeout(Some(LOOK_UP));
            // Nobody may be there to hear it.
            let _ = stream.write_all(&[1]);
            life(&mut stream);
        })?;
        let mut guard = Guard { stream, pid };
        guard.stream.read_exact(&mut [0])?;
        Ok(guard)
    }

    /// Tells it something.
    pub(super) fn tell(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        // It is our child and not yet waited for, so the id is still its own.
        processes::signal(self.pid, Signal::TERM);
        processes::wait_for(self.pid, WaitOptions::empty());
    }
}

/// The next that the process is told; `None` when headstart has gone or ends the process, and nothing is
/// left to hear.
pub(super) fn hear<const LENGTH: usize>(stream: &mut UnixStream) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    let mut have = 0;
    while have < LENGTH {
        match stream.read(&mut bytes[have..]) {
            Ok(0) => return None,
            Ok(count) => have += count,
            Err(error) if again(&error) && !told_to_leave() => {}
            // Interrupted by that signal: what was said before it is still to be heard.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(bytes)
}

fn again(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
