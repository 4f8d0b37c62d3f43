//! The processes that put the file back, or remove its copy, where headstart is killed: one that is
//! there before the copy has a name, and then that of the copy.
//!
//! They are in sessions of their own, so that neither Ctrl-C nor a signal to headstart's process group
//! reaches them. The second holds the lock of the copy, so that no other run takes it for one that was
//! left.

use super::Places;
use crate::linux::launcher::guardian::close_all_but;
use crate::linux::launcher::leave::{self, told_to_leave};
use crate::linux::processes;
use files::Draft;
use rustix::process::{Signal, WaitOptions, setsid};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the programs that may still replace the file are waited for.
const LIMIT: Duration = Duration::from_secs(20);
/// How long a copy is locked that another run has, and that is to stay, or one of a process that ends.
const LOCKED: Duration = Duration::from_secs(1);
const LOOK_UP: Duration = Duration::from_millis(10);

/// What is to be done with the copy in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Remove,
    /// Nobody may lose it.
    Leave,
    /// It takes the file's place when this process, and so all that it watches over, has gone.
    PutBackAfter(libc::pid_t),
}

impl Wish {
    fn number(self) -> libc::pid_t {
        match self {
            Wish::Remove => 0,
            Wish::Leave => -1,
            Wish::PutBackAfter(pid) => pid,
        }
    }

    fn of(number: libc::pid_t) -> Wish {
        match number {
            0 => Wish::Remove,
            ..0 => Wish::Leave,
            pid => Wish::PutBackAfter(pid),
        }
    }
}

/// The guardian, seen from headstart. It ends when dropped.
pub(in crate::linux) struct Guardian {
    stream: UnixStream,
    pid: libc::pid_t,
}

impl Guardian {
    /// Starts one that watches until it is told anything, while the copy is made: a copy that has
    /// no guardian of its own when headstart is killed is removed.
    pub(in crate::linux) fn before_copy(original: &Path) -> io::Result<Guardian> {
        Guardian::living(&[], |stream| {
            if hear(stream).is_none() {
                remove_left(original);
            }
        })
    }

    /// Starts that of the copy. `lock` is the open copy.
    pub(super) fn start(places: &Places, lock: RawFd) -> io::Result<Guardian> {
        Guardian::living(&[lock, places.file.descriptor()], |stream| watch(stream, places))
    }

    /// Starts a process that keeps these descriptors, and waits until it watches.
    fn living(kept: &[RawFd], life: impl FnOnce(&mut UnixStream)) -> io::Result<Guardian> {
        let (stream, pid) = leave::fork(|mut stream, parent| {
            leave::listen();
            close_all_but(&[&[stream.as_raw_fd()], kept].concat());
            let _ = setsid();
            // Where headstart has gone already, the stream ends at once.
            let _ = leave::lives_with(parent, c"kept-copy");
            // A signal that comes just before a read is noticed with the next look.
            let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
            // Nobody may be there to hear it.
            let _ = stream.write_all(&[1]);
            life(&mut stream);
        })?;
        let mut guardian = Guardian { stream, pid };
        guardian.stream.read_exact(&mut [0])?;
        Ok(guardian)
    }

    /// Tells it what is to be done from now on.
    pub(super) fn tell(&mut self, wish: Wish) -> io::Result<()> {
        self.stream.write_all(&wish.number().to_le_bytes())
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

/// The life of the copy's guardian.
fn watch(stream: &mut UnixStream, places: &Places) {
    let mut wish = Wish::Remove;
    while let Some(next) = hear(stream) {
        wish = next;
    }
    match wish {
        Wish::Leave => {}
        Wish::Remove => places.remove(),
        Wish::PutBackAfter(pid) => {
            wait_for_end(pid);
            // Where it has failed, the copy is all that there is.
            if places.put_back().is_ok() {
                places.remove();
            }
        }
    }
}

/// Removes the copy of a killed headstart. It is locked until all of that has gone.
fn remove_left(original: &Path) {
    let began = Instant::now();
    while Draft::remove_left(original).is_ok_and(|none_is_left| !none_is_left)
        && began.elapsed() < LOCKED
    {
        std::thread::sleep(LOOK_UP);
    }
}

/// The next wish; `None` when headstart has gone or ends the guardian, and nothing is left to hear.
fn hear(stream: &mut UnixStream) -> Option<Wish> {
    let mut bytes = [0; size_of::<libc::pid_t>()];
    let mut have = 0;
    while have < bytes.len() {
        match stream.read(&mut bytes[have..]) {
            Ok(0) => return None,
            Ok(count) => have += count,
            Err(error) if again(&error) && !told_to_leave() => {}
            // Interrupted by that signal: what was said before it is still to be heard.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(Wish::of(libc::pid_t::from_le_bytes(bytes)))
}

fn again(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn wait_for_end(pid: libc::pid_t) {
    let began = Instant::now();
    let runs = || {
        let fields = processes::stat_fields(pid).unwrap_or_default();
        fields.first().is_some_and(|state| state != "Z")
    };
    while runs() && began.elapsed() < LIMIT {
        std::thread::sleep(LOOK_UP);
    }
}
