//! The processes that put the file back, or remove its copy, where headstart is killed: one that is
//! there before the copy has a name, and then that of the copy.
//!
//! The second holds the lock of the copy, so that no other run takes it for one that was left.

use super::Places;
use crate::linux::guard::{Guard, hear};
use crate::linux::processes;
use files::Draft;
use std::io;
use std::os::fd::RawFd;
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
pub(in crate::linux) struct Guardian(Guard);

impl Guardian {
    /// Starts one that watches until it is told anything, while the copy is made: a copy that has
    /// no guardian of its own when headstart is killed is removed.
    pub(in crate::linux) fn before_copy(original: &Path) -> io::Result<Guardian> {
        Guardian::living(&[], |stream| {
            if hear_wish(stream).is_none() {
                remove_left(original);
            }
        })
    }

    /// Starts that of the copy. `lock` is the open copy.
    pub(super) fn start(places: &Places, lock: RawFd) -> io::Result<Guardian> {
        Guardian::living(&[lock, places.file.descriptor()], |stream| watch(stream, places))
    }

    fn living(kept: &[RawFd], life: impl FnOnce(&mut UnixStream)) -> io::Result<Guardian> {
        Guard::living(c"kept-copy", kept, life).map(Guardian)
    }

    /// Tells it what is to be done from now on.
    pub(super) fn tell(&mut self, wish: Wish) -> io::Result<()> {
        self.0.tell(&wish.number().to_le_bytes())
    }
}

/// The life of the copy's guardian.
fn watch(stream: &mut UnixStream, places: &Places) {
    let mut wish = Wish::Remove;
    while let Some(next) = hear_wish(stream) {
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

fn hear_wish(stream: &mut UnixStream) -> Option<Wish> {
    hear(stream).map(|number| Wish::of(libc::pid_t::from_le_bytes(number)))
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
