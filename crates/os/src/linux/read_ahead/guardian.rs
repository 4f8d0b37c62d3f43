//! The process that puts the settings back where headstart is killed.
//!
//! It is in a session of its own, so that neither Ctrl-C nor a signal to headstart's process group
//! reaches it, and holds headstart's lock until it has finished.

use super::kept::Folder;
use super::restore;
use crate::linux::error::LaunchError;
use crate::linux::launcher::guardian::close_all_but;
use crate::linux::launcher::leave::{self, told_to_leave};
use crate::linux::processes;
use rustix::process::{Signal, WaitOptions, setsid};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The guardian, seen from headstart. It ends when dropped.
pub(super) struct Guardian {
    stream: UnixStream,
    pid: libc::pid_t,
}

impl Guardian {
    /// Starts it, and waits until it watches. `lock` is the open file that is locked.
    pub(super) fn start(folder: &Folder, lock: RawFd) -> Result<Guardian, LaunchError> {
        let failed = LaunchError::failed(
            "the process that guards the read-ahead could not be created",
            "check the limits on processes and open files (ulimit -u, ulimit -n)",
        );
        let life = |stream, parent| watch(stream, parent, folder, lock);
        let (stream, pid) = leave::fork(life).map_err(failed)?;
        let mut guardian = Guardian { stream, pid };
        guardian.stream.read_exact(&mut [0]).map_err(failed)?;
        Ok(guardian)
    }

    #[cfg(test)]
    pub(super) fn pid(&self) -> libc::pid_t {
        self.pid
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        // It is our child and not yet waited for, so the id is still its own.
        processes::signal(self.pid, Signal::TERM);
        processes::wait_for(self.pid, WaitOptions::empty());
    }
}

/// The guardian's life. As long as it has `lock` open the file is locked.
fn watch(mut stream: UnixStream, parent: libc::pid_t, folder: &Folder, lock: RawFd) {
    leave::listen();
    close_all_but(&[stream.as_raw_fd(), lock]);
    let _ = setsid();
    leave::live_and_die_with(parent, c"read-ahead");
    let told = stream.write_all(&[1]).is_ok();
    // A signal that comes just before a read is noticed with the next look.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    while told && !told_to_leave() {
        match stream.read(&mut [0]) {
            Err(error) if again(&error) => {}
            _ => break,
        }
    }
    // Where it fails the file stays, and the next headstart tries again.
    let _ = restore(folder);
}

fn again(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
