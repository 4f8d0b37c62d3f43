//! A small process that does nothing but launch programs and wait for them.
//!
//! Why a process of its own: a launched program's peak RSS starts at its launcher's
//! (getrusage(2), `ru_maxrss` survives execve), so the launcher must stay small whatever
//! headstart itself holds; it can be pinned and made real-time without touching anything else;
//! and as a child subreaper it inherits, and ends, whatever a program leaves running.
//!
//! If headstart dies, the launcher gets a SIGTERM, ends every descendant and leaves. If the
//! launcher dies, the launched program gets a SIGKILL, and a guardian above the launcher inherits,
//! and ends, the rest.

mod alarm;
mod copies;
mod entry;
mod exit;
mod gaining;
pub(crate) mod guardian;
mod idle;
pub(crate) mod leave;
mod peak;
mod private;
mod ready;
mod schedule;
mod serve;
mod source;
mod still;
mod tracee;
mod unfollowed;
mod usage;
mod wake;
mod wire;

use super::error::LaunchError;
use super::place::PlacedFiles;
use super::spawn::Child;
use super::{interrupt, processes};
use model::{Command, Launch};
use source::{poll, readable};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use wire::{LaunchPurpose, Order, Reply};

pub use crate::launching::{Configuration, GRACE, HeardOutput, LaunchRecord, LaunchSpec};
pub use crate::pattern::pattern;
pub use crate::stdio::{Stdio, Stream};
pub use copies::{CopiesRequest, CopiesUntil, Held, HeldProcess};
pub(in crate::linux) use ready::ReadyCondition;
pub(crate) use schedule::set_policy;
pub(crate) use source::{Source, Unwatched};
pub use unfollowed::unfollowed;

impl LaunchRecord {
    fn new(child: &Child, launch: Launch) -> LaunchRecord {
        LaunchRecord { pid: child.pid as u32, ticks: child.started.ticks(), launch }
    }

    /// Microseconds from its beginning to a time on the launch clock.
    pub(crate) fn at_us(&self, ns: u64) -> f64 {
        (i128::from(ns) - i128::from(self.ticks)) as f64 / 1000.0
    }
}

/// A prepared command of one launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(usize);

/// The launcher process, seen from headstart.
pub struct Launcher {
    stream: UnixStream,
    pid: libc::pid_t,
    /// Our child, and the launcher's parent.
    guardian: libc::pid_t,
    slots: usize,
    look_up_ms: i32,
}

/// Extra time before an unresponsive launcher's programs are ended from here.
const WATCHDOG_MARGIN: Duration = Duration::from_secs(3);

/// How often a wait looks up for an interrupt that came just before it began, and wakes those that a
/// program has stopped.
const LOOK_UP_MS: i32 = 1000;
/// The same where nothing is timed.
const LOOK_UP_OFTEN_MS: i32 = 50;

impl Launcher {
    /// Forks the launcher. Call it early: what the caller holds in memory then is what the
    /// launcher counts as its own. The launcher ends with the calling thread.
    pub fn start() -> Result<Self, LaunchError> {
        let failed = LaunchError::failed(
            "the launcher process could not be created",
            "check the limits on processes and open files (ulimit -u, ulimit -n)",
        );
        let (stream, guardian) = leave::fork(guardian::watch_over).map_err(failed)?;
        let mut launcher = Launcher { stream, pid: 0, guardian, slots: 0, look_up_ms: LOOK_UP_MS };
        let mut pid = [0; size_of::<libc::pid_t>()];
        launcher.stream.read_exact(&mut pid).map_err(failed)?;
        launcher.pid = libc::pid_t::from_le_bytes(pid);
        Ok(launcher)
    }

    /// Process id of the launcher: every launched program is its child.
    pub fn pid(&self) -> u32 {
        self.pid as u32
    }

    /// Process id of the launcher's parent, which ends after all that the launcher has launched.
    pub(crate) fn guardian(&self) -> libc::pid_t {
        self.guardian
    }

    /// Sets how launches run. Fails where real-time scheduling or the CPU is not permitted.
    pub fn configure(&mut self, configuration: Configuration) -> Result<(), LaunchError> {
        self.ask(&Order::Configure(configuration), &[], None, &mut Unwatched).map(|_| ())
    }

    /// From now on every launch sees the files of `place` instead of those that they cover, and nobody
    /// else does. To be called once.
    ///
    /// # Errors
    /// [`LaunchError::NotPermitted`] where this user may not; otherwise a file that is missing, or one
    /// with privileges.
    pub fn enter(&mut self, place: &PlacedFiles) -> Result<(), LaunchError> {
        self.ask(&Order::Enter(place.clone()), &[], None, &mut Unwatched).map(|_| ())
    }

    /// Prepares a command with its stdin, stdout and stderr, and extra environment variables.
    pub fn prepare(
        &mut self,
        command: &Command,
        stdio: &Stdio,
        environment: &[(&str, &str)],
    ) -> Result<Slot, LaunchError> {
        self.ask(&keep(command, environment, None), &stdio.descriptors(), None, &mut Unwatched)?;
        self.slots += 1;
        Ok(Slot(self.slots - 1))
    }

    /// [`Launcher::prepare`] in the place of a command that is no longer needed.
    pub fn replace(
        &mut self,
        slot: Slot,
        command: &Command,
        stdio: &Stdio,
        environment: &[(&str, &str)],
    ) -> Result<(), LaunchError> {
        let order = keep(command, environment, Some(slot.0));
        self.ask(&order, &stdio.descriptors(), None, &mut Unwatched).map(|_| ())
    }

    /// Launches a prepared command and waits until it is complete and gone.
    pub fn launch(&mut self, slot: Slot, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
        self.one(slot, spec, LaunchPurpose::Timing(1), &mut Unwatched).map(|made| made.launch)
    }

    /// Launches a prepared command exactly once and waits until it is complete, as `spec.until` says,
    /// and gone. ([`Launcher::launch`] may launch it once more, untimed, to learn
    /// its peak RSS.)
    pub fn once(&mut self, slot: Slot, spec: &LaunchSpec) -> Result<LaunchRecord, LaunchError> {
        self.once_watched(slot, spec, &mut Unwatched)
    }

    /// Launches a prepared command once and follows it by ptrace, to learn how much memory belongs to
    /// its processes alone ([`Launch::private_kib`]). Its time is none of an ordinary launch. Where
    /// it cannot be followed, it is launched once more, and the figure is the reason.
    pub fn followed(&mut self, slot: Slot, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
        self.one(slot, spec, LaunchPurpose::Followed, &mut Unwatched).map(|made| made.launch)
    }

    /// Runs a prepared command for what it does. What it leaves running, such as a server, goes on
    /// until this launcher is dropped.
    pub fn aside(&mut self, slot: Slot, spec: &LaunchSpec) -> Result<LaunchRecord, LaunchError> {
        self.one(slot, spec, LaunchPurpose::Aside, &mut Unwatched)
    }

    /// [`Launcher::once`], draining `source` meanwhile.
    pub(crate) fn once_watched(
        &mut self,
        slot: Slot,
        spec: &LaunchSpec,
        source: &mut dyn Source,
    ) -> Result<LaunchRecord, LaunchError> {
        self.one(slot, spec, LaunchPurpose::Once, source)
    }

    /// Launches a prepared command `count` times, one after the other without coming back here
    /// in between; ends early at a launch that fails.
    pub fn launch_many(
        &mut self,
        slot: Slot,
        spec: &LaunchSpec,
        count: u32,
    ) -> Result<Vec<LaunchRecord>, LaunchError> {
        self.several(slot, spec, LaunchPurpose::Timing(count), None, &mut Unwatched)
    }

    fn one(
        &mut self,
        slot: Slot,
        spec: &LaunchSpec,
        purpose: LaunchPurpose,
        source: &mut dyn Source,
    ) -> Result<LaunchRecord, LaunchError> {
        // When the launcher's answer is overdue.
        let limit = spec.timeout.saturating_add(spec.grace).saturating_add(WATCHDOG_MARGIN);
        let mut launches = self.several(slot, spec, purpose, Some(limit), source)?;
        launches.pop().ok_or(LaunchError::LauncherGone)
    }

    fn several(
        &mut self,
        slot: Slot,
        spec: &LaunchSpec,
        purpose: LaunchPurpose,
        limit: Option<Duration>,
        source: &mut dyn Source,
    ) -> Result<Vec<LaunchRecord>, LaunchError> {
        let order = Order::Launch { slot: slot.0, spec: spec.clone(), purpose };
        match self.ask(&order, &[], limit, source)? {
            Reply::Launched(launches) => Ok(launches),
            _ => Err(LaunchError::LauncherGone),
        }
    }

    fn ask(
        &mut self,
        order: &Order,
        fds: &[BorrowedFd<'_>],
        limit: Option<Duration>,
        source: &mut dyn Source,
    ) -> Result<Reply, LaunchError> {
        wire::send(&self.stream, order, fds).map_err(|source| match source.raw_os_error() {
            Some(libc::EBADF) => LaunchError::System {
                action: "stdin, stdout and stderr could not be passed to the program".into(),
                source,
                remedy: "none of the three may be closed".into(),
            },
            _ => LaunchError::LauncherGone,
        })?;
        self.await_reply(limit, source)?;
        match wire::receive::<Reply>(&mut self.stream) {
            Ok(Some((Reply::Failed { message, kind }, _))) => {
                Err(LaunchError::InLauncher { message, kind })
            }
            Ok(Some((reply, _))) => Ok(reply),
            _ => Err(LaunchError::LauncherGone),
        }
    }

    /// Waits for a reply; ends the launcher's programs when it is overdue (a real-time program
    /// that never sleeps keeps the launcher itself from running).
    fn await_reply(
        &self,
        mut limit: Option<Duration>,
        source: &mut dyn Source,
    ) -> Result<(), LaunchError> {
        let mut asked = Instant::now();
        let mut looked_up = asked;
        let look_up = Duration::from_millis(self.look_up_ms.unsigned_abs().into());
        let mut fds = vec![self.stream.as_raw_fd()];
        fds.extend(source.descriptors());
        let mut fds: Vec<_> = fds.into_iter().map(readable).collect();
        let mut more = false;
        loop {
            if interrupt::requested() {
                return Err(LaunchError::Interrupted);
            }
            if looked_up.elapsed() >= look_up {
                looked_up = Instant::now();
                self.wake();
            }
            match poll(&mut fds, if more { 0 } else { self.look_up_ms }) {
                Ok(_) if fds[0].revents != 0 => return Ok(()),
                Ok(0) if !more && limit.is_some_and(|limit| asked.elapsed() > limit) => {
                    processes::kill_descendants(self.pid);
                    asked = Instant::now();
                    limit = Some(WATCHDOG_MARGIN);
                }
                Ok(_) => more = source.drain(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(LaunchError::LauncherGone),
            }
        }
    }
}

/// The request to keep a command.
fn keep(command: &Command, environment: &[(&str, &str)], instead_of: Option<usize>) -> Order {
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    let environment = environment.iter().map(owned).collect();
    Order::Prepare { command: command.clone(), environment, instead_of }
}
