//! What is read while a launch runs.

use std::io;
use std::os::fd::RawFd;

/// What is read while a launch runs.
pub(crate) trait Source {
    /// Descriptors that become readable when there is something to drain.
    fn descriptors(&self) -> Vec<RawFd>;
    /// Takes a bounded amount of what is there, without waiting. True where more may be left.
    fn drain(&mut self) -> bool;
}

/// No source: nothing is read while a launch runs.
pub(crate) struct Unwatched;

impl Source for Unwatched {
    fn descriptors(&self) -> Vec<RawFd> {
        Vec::new()
    }

    fn drain(&mut self) -> bool {
        false
    }
}

/// What [`poll`] waits for.
pub fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Waits until one of `fds` is readable, for at most `timeout_ms`; how many are.
pub fn poll(fds: &mut [libc::pollfd], timeout_ms: i32) -> io::Result<usize> {
    // SAFETY: a valid array of the given length.
    let count = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}
