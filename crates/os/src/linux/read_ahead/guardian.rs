//! The process that puts the settings back where headstart is killed or stopped (Ctrl-Z), and when it
//! takes too long.
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
use std::time::{Duration, Instant};

/// How often it is looked whether headstart is stopped.
const LOOK_UP: Duration = Duration::from_millis(200);

/// Why the settings were put back although headstart lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GaveUp {
    /// It was stopped.
    Stopped,
    /// It took longer than it said.
    Late,
}

impl GaveUp {
    fn code(self) -> u8 {
        match self {
            GaveUp::Stopped => 2,
            GaveUp::Late => 3,
        }
    }
}

/// The guardian, seen from headstart. It ends when dropped.
pub(super) struct Guardian {
    stream: UnixStream,
    pid: libc::pid_t,
}

impl Guardian {
    /// Starts it, and waits until it watches. `lock` is the open file that is locked. After `limit` it
    /// puts the settings back in any case.
    pub(super) fn start(
        folder: &Folder,
        lock: RawFd,
        limit: Duration,
    ) -> Result<Guardian, LaunchError> {
        let failed = LaunchError::failed(
            "the process that guards the read-ahead could not be created",
            "check the limits on processes and open files (ulimit -u, ulimit -n)",
        );
        let life = |stream, parent| watch(stream, parent, folder, lock, limit);
        let (stream, pid) = leave::fork(life).map_err(failed)?;
        let mut guardian = Guardian { stream, pid };
        guardian.stream.read_exact(&mut [0]).map_err(failed)?;
        Ok(guardian)
    }

    /// Whether it has put the settings back, and why. It says so before it does so: where it has said
    /// nothing they were off until now.
    pub(super) fn gave_up(&mut self) -> Option<GaveUp> {
        let mut code = [0];
        let _ = self.stream.set_nonblocking(true);
        self.stream.read_exact(&mut code).ok()?;
        [GaveUp::Stopped, GaveUp::Late].into_iter().find(|it| it.code() == code[0])
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
fn watch(
    mut stream: UnixStream,
    parent: libc::pid_t,
    folder: &Folder,
    lock: RawFd,
    limit: Duration,
) {
    leave::listen();
    close_all_but(&[stream.as_raw_fd(), lock]);
    let _ = setsid();
    leave::live_and_die_with(parent, c"read-ahead");
    let told = stream.write_all(&[1]).is_ok();
    // A signal that comes just before a read is noticed with the next look.
    let _ = stream.set_read_timeout(Some(LOOK_UP));
    let began = Instant::now();
    let mut looks = Looks::default();
    while told && !told_to_leave() {
        match stream.read(&mut [0]) {
            Err(error) if again(&error) => {}
            _ => break,
        }
        let gave_up = match looks.is_stopped(parent) {
            true => Some(GaveUp::Stopped),
            false => (began.elapsed() > limit).then_some(GaveUp::Late),
        };
        if let Some(why) = gave_up {
            let _ = stream.write_all(&[why.code()]);
            break;
        }
    }
    // Where it fails the file stays, and the next headstart tries again.
    let _ = restore(folder);
}

/// What was seen of headstart.
#[derive(Default)]
struct Looks {
    traced: u32,
}

impl Looks {
    /// Whether it is stopped. A debugger or strace stops it for moments, too: then several looks in a
    /// row have to see that.
    fn is_stopped(&mut self, pid: libc::pid_t) -> bool {
        const LOOKS: u32 = 5;
        let state = processes::stat_fields(pid).and_then(|fields| fields.into_iter().next());
        self.traced = if state.as_deref() == Some("t") { self.traced + 1 } else { 0 };
        state.as_deref() == Some("T") || self.traced >= LOOKS
    }
}

fn again(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
