//! The process that starts those that load, and another one behind a library that ended one.
//!
//! It inherits what libraries leave running and ends it; so it does where headstart has gone.

use super::child::{self, Task};
use super::table::{State, Table};
use crate::linux::clock::Instant;
use crate::linux::launcher::guardian::close_all_but;
use crate::linux::launcher::leave::{self, told_to_leave};
use crate::linux::processes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, pidfd_open, set_child_subreaper,
};
use std::ffi::CString;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// So many processes load again what those before them have loaded. The next ones do not: a long
/// list of libraries that crash would take for ever.
const MOST_THAT_LOAD_AGAIN: u32 = 10;
/// How often a hanging library is looked at.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// How long descendants may take to end.
const ENDING: Duration = Duration::from_secs(5);

/// What the keeper works with.
pub(super) struct Keeper<'a> {
    pub(super) names: &'a [CString],
    pub(super) table: &'a Table,
    pub(super) timeout: Duration,
    pub(super) watch: bool,
    pub(super) null: RawFd,
    pub(super) printed: RawFd,
}

/// How a process that loads has ended.
enum Ended {
    Status(Option<WaitStatus>),
    /// It asked to be traced, and stopped at this signal: its keeper would have to let it go on.
    Traced(i32),
    TimedOut,
    /// headstart has gone, or wants no more.
    Over,
}

impl Keeper<'_> {
    /// Waits for a byte, loads everything, and sends one.
    pub(super) fn live(&self, mut stream: UnixStream, parent: libc::pid_t) {
        use std::os::fd::AsRawFd;
        leave::listen();
        close_all_but(&[stream.as_raw_fd(), self.null, self.printed]);
        leave::live_and_die_with(parent, c"load");
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        if stream.read_exact(&mut [0]).is_ok() && self.load_all(&stream) {
            let _ = stream.write_all(&[1]);
        }
    }

    /// Whether nobody stopped it.
    fn load_all(&self, stream: &UnixStream) -> bool {
        let header = self.table.header();
        let (mut from, mut spoilt) = (0, vec![false; self.names.len()]);
        while from < self.names.len() {
            let processes = header.processes.fetch_add(1, SeqCst);
            header.done.store(0, SeqCst);
            header.at.store(0, SeqCst);
            header.again.store(0, SeqCst);
            header.began.store(Instant::now().ticks(), SeqCst);
            let again: Vec<usize> = match processes {
                0..MOST_THAT_LOAD_AGAIN => {
                    (0..from).filter(|&index| self.is_good(index, &spoilt)).collect()
                }
                _ => Vec::new(),
            };
            let ended = self.one(&again, from, stream);
            let left = processes::end_descendants(processes::own_pid(), ENDING);
            header.left_running.fetch_add(left, SeqCst);
            if matches!(ended, Ended::Over) {
                return false;
            }
            if header.done.load(SeqCst) != 0 {
                return true;
            }
            from = self.blame(&ended, from, &mut spoilt);
        }
        true
    }

    /// Whether a later process may load it again.
    fn is_good(&self, index: usize, spoilt: &[bool]) -> bool {
        self.table.entry(index).state() == State::Loaded && !spoilt[index]
    }

    /// Notes which library has ended the process; gives the first that is still to be loaded.
    fn blame(&self, ended: &Ended, from: usize, spoilt: &mut [bool]) -> usize {
        let header = self.table.header();
        let count = self.names.len();
        let at = |number: u32| (number as usize).checked_sub(1).filter(|&index| index < count);
        if let Some(again) = at(header.again.load(SeqCst)) {
            // It was loaded once, and is not tried a third time.
            spoilt[again] = true;
            return from;
        }
        let index = at(header.at.load(SeqCst)).unwrap_or(from).max(from);
        let entry = self.table.entry(index);
        spoilt[index] = true;
        if !matches!(entry.state(), State::Waiting | State::Loading) {
            return index + 1;
        }
        let (state, detail) = match ended {
            Ended::TimedOut | Ended::Over => (State::TimedOut, 0),
            Ended::Traced(signal) => (State::Traced, *signal),
            Ended::Status(status) => {
                match status.map(|status| (status.exit_status(), status.terminating_signal())) {
                    Some((Some(code), _)) => (State::Exited, code),
                    Some((None, Some(signal))) => (State::Killed, signal),
                    _ => (State::Killed, 0),
                }
            }
        };
        entry.detail.store(detail, SeqCst);
        entry.set(state);
        index + 1
    }

    /// Starts a process and waits for its end.
    fn one(&self, again: &[usize], from: usize, stream: &UnixStream) -> Ended {
        let task = Task {
            names: self.names,
            again,
            from,
            watch: self.watch,
            null: self.null,
            printed: self.printed,
            keeper: processes::own_pid(),
        };
        // SAFETY: the keeper has one thread, so its copy is whole; the child never returns.
        let pid = match unsafe { libc::fork() } {
            -1 => return Ended::Over,
            0 => child::live(&task, self.table),
            pid => pid,
        };
        let handle = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        loop {
            if let Some(status) = processes::wait_for(pid, WaitOptions::NOHANG) {
                // Of others only their end is told.
                let Some(signal) = status.stopping_signal() else {
                    return Ended::Status(Some(status));
                };
                end(pid);
                return Ended::Traced(signal);
            }
            let began = Instant::from_ticks(self.table.header().began.load(SeqCst));
            let late = Instant::now().us_since(began) > self.timeout.as_secs_f64() * 1e6;
            let over = told_to_leave() || look(stream, handle.as_ref());
            if late || over {
                end(pid);
                return if over { Ended::Over } else { Ended::TimedOut };
            }
        }
    }
}

fn end(pid: libc::pid_t) {
    processes::signal(pid, Signal::KILL);
    processes::wait_for(pid, WaitOptions::empty());
}

/// Waits until the process has ended, for a moment at most; whether headstart has closed its end.
fn look(stream: &UnixStream, process: Option<&OwnedFd>) -> bool {
    let mut fds = vec![PollFd::new(stream, PollFlags::IN)];
    fds.extend(process.map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)));
    let found = poll(&mut fds, Some(&LOOK));
    found.is_ok_and(|found| found > 0) && !fds[0].revents().is_empty()
}
