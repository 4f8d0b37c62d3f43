//! The launcher and its guardian go on and end, also where a program has stopped them.

use super::source::{poll, readable};
use super::{LOOK_UP_OFTEN_MS, Launcher};
use crate::linux::processes;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open};
use std::io;
use std::net::Shutdown;
use std::os::fd::AsRawFd;

impl Launcher {
    /// A program may have stopped its parent, the launcher, or the guardian.
    pub(super) fn wake(&self) {
        processes::signal(self.guardian, Signal::CONT);
        let parent =
            processes::stat_fields(self.pid).and_then(|fields| fields.get(1)?.parse().ok());
        if parent == Some(self.guardian) {
            processes::signal(self.pid, Signal::CONT);
        }
    }

    /// Waits for the end of the guardian, which is our child.
    fn await_guardian(&self) {
        let guardian = Pid::from_raw(self.guardian);
        let handle = guardian.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        if let Some(handle) = handle {
            let mut fds = [readable(handle.as_raw_fd())];
            loop {
                match poll(&mut fds, LOOK_UP_OFTEN_MS) {
                    Ok(0) => self.wake(),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    _ => break,
                }
            }
        }
        processes::wait_for(self.guardian, WaitOptions::empty());
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // A launcher that waits for requests sees the end of the stream, one that waits for a
        // program the signal, which the guardian passes on.
        let _ = self.stream.shutdown(Shutdown::Both);
        // The guardian is our child and not yet waited for, so the id is still its own.
        processes::signal(self.guardian, Signal::TERM);
        self.await_guardian();
    }
}
