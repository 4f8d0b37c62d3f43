//! Launches that are followed by ptrace(2), to learn how much memory belongs to their processes alone.
//!
//! No account of a process that has ended tells that. So every process is stopped as it exits, where
//! it still has its memory (PTRACE_EVENT_EXIT). Nothing else of it is looked at, and no system call
//! is filtered: a program that gains privileges keeps them where the launcher may trace such
//! programs. Where it may not, a process is let go before it executes such a program.

use super::alarm::Alarm;
use super::gaining;
use super::leave::told_to_leave;
use super::still;
use super::tracee;
use super::usage::{self, Completion};
use super::{LaunchRecord, LaunchSpec};
use crate::linux::clock::Instant;
use crate::linux::phrases::Phrase;
use crate::linux::spawn::{Prepared, Setup};
use crate::linux::trace::ptrace::{self, Resume, Tid};
use crate::linux::trace::{arch, tracer};
use crate::linux::{memory, processes};
use crate::stdio::Stdio;
use model::{Ending, Reading};
use rustix::process::Signal;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// EXITKILL: no tracee outlives the launcher.
const OPTIONS: libc::c_int = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT
    | libc::PTRACE_O_TRACESYSGOOD;
const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;
const PTRACE_EVENT_STOP: i32 = 128;
/// How long it may take to end what is left.
const END: Duration = Duration::from_secs(5);

/// Why a launch was not followed to its end.
pub enum NotFollowed {
    /// It takes too long, or headstart has gone.
    Late,
    /// What stands in the way, and what helps.
    Refused(String, String),
}

impl From<io::Error> for NotFollowed {
    fn from(error: io::Error) -> NotFollowed {
        let remedy = format!("allow ptrace ({})", Phrase::CheckMachine.words());
        NotFollowed::Refused(error.to_string(), remedy)
    }
}

impl NotFollowed {
    /// The figure that is missing.
    pub fn reading(self) -> Reading<u64> {
        match self {
            NotFollowed::Late => Reading::unavailable("the launch took too long", ""),
            NotFollowed::Refused(why, remedy) => {
                Reading::unavailable(format!("the launch could not be traced: {why}"), remedy)
            }
        }
    }
}

/// Launches a program and follows it until it has ended, or the time is up. What is left running is
/// ended.
///
/// # Errors
/// It cannot be traced; nothing is left of the launch then.
pub fn launch(
    prepared: &Prepared,
    stdio: &Stdio,
    spec: &LaunchSpec,
) -> Result<LaunchRecord, NotFollowed> {
    let alarm = Alarm::set(spec.timeout);
    let child = tracer::start(prepared, Setup::with_stdio(stdio));
    let child = child.map_err(|error| NotFollowed::from(io::Error::other(error.to_string())))?;
    let floor_kib = usage::own_peak_kib();
    let mut followed = Followed::new(child.pid);
    let outcome = followed.follow(&alarm);
    let total_us = Instant::now().us_since(child.started);
    drop(alarm);
    let own = processes::own_pid();
    if matches!(outcome, Err(NotFollowed::Late)) && !told_to_leave() {
        processes::signal_descendants(own, Signal::TERM);
        // It may take that long to end by itself.
        let _ = followed.follow(&Alarm::set(spec.grace));
    }
    let left_running = processes::descendants(own).len() as u32;
    still::await_end(END, || {
        processes::kill_descendants(own);
    });
    let mut launch = match outcome {
        Ok((ending, usage)) => usage::launch(total_us, ending, &usage, floor_kib, left_running),
        Err(NotFollowed::Late) => Completion::TimedOut(total_us).launch(floor_kib),
        Err(refused) => return Err(refused),
    };
    if let (None, Some(peak_kib)) = (launch.peak_rss_kib.get(), followed.peak_kib) {
        launch.peak_rss_kib = Reading::Value(peak_kib);
    }
    launch.private_kib = Some(match launch.ending {
        Ending::TimedOut => NotFollowed::Late.reading(),
        _ => followed.reading(),
    });
    Ok(LaunchRecord::new(&child, launch))
}

/// The processes of one launch.
struct Followed {
    root: Tid,
    /// The root has executed its program.
    begun: bool,
    /// Threads that have stopped once.
    known: HashSet<Tid>,
    /// Processes whose leading thread has ended before others.
    leaderless: HashSet<Tid>,
    /// What belonged to each at its end; `None` where it may not be read.
    private_kib: HashMap<Tid, Option<u64>>,
    /// The root's own peak.
    peak_kib: Option<u64>,
    /// The launcher may not trace programs that gain privileges.
    is_unprivileged: bool,
    /// A program that gained some, before which a process was let go.
    gained: Option<PathBuf>,
}

impl Followed {
    fn new(root: Tid) -> Followed {
        let (known, leaderless) = (HashSet::from([root]), HashSet::new());
        Followed {
            root,
            begun: false,
            known,
            leaderless,
            private_kib: HashMap::new(),
            peak_kib: None,
            is_unprivileged: !rustix::process::geteuid().is_root(),
            gained: None,
        }
    }

    /// Follows all until the root has ended.
    fn follow(&mut self, alarm: &Alarm) -> Result<(Ending, Box<libc::rusage>), NotFollowed> {
        loop {
            let (tid, status, usage) = next(alarm)?;
            if libc::WIFSTOPPED(status) {
                let resume = self.on_stop(tid, status)?;
                ptrace::resume(tid, resume);
            } else {
                self.known.remove(&tid);
                if tid == self.root {
                    return Ok((ptrace::ending(status), usage));
                }
            }
        }
    }

    fn on_stop(&mut self, tid: Tid, status: i32) -> Result<Resume, NotFollowed> {
        let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
        let is_first = self.known.insert(tid);
        if tid == self.root && !std::mem::replace(&mut self.begun, true) {
            ptrace::set_options_to(tid, OPTIONS)?;
            return self.on_exec(tid);
        }
        match event {
            libc::PTRACE_EVENT_EXEC => return self.on_exec(tid),
            libc::PTRACE_EVENT_EXIT => self.on_exit(tid),
            PTRACE_EVENT_STOP if still::is_stop(signal) && !is_first => return Ok(Resume::Listen),
            0 if is_first && signal == libc::SIGSTOP => {}
            0 if signal == SYSCALL_STOP => return Ok(self.at_syscall(tid)),
            // Only a seized tracee can stay stopped and yet be woken by SIGCONT.
            0 if still::is_stop(signal)
                && ptrace::in_group_stop(tid)
                && ptrace::seize_stopped(tid).is_ok() =>
            {
                return Ok(Resume::Leave);
            }
            0 => return Ok(self.onward(signal)),
            _ => {}
        }
        Ok(self.onward(0))
    }

    /// Every system call is looked at only where that matters, as each stop takes time.
    fn onward(&self, signal: i32) -> Resume {
        if self.is_unprivileged { Resume::ToSyscall(signal) } else { Resume::Continue(signal) }
    }

    fn at_syscall(&mut self, tid: Tid) -> Resume {
        let Some(program) = gaining::about_to_gain(tid) else { return self.onward(0) };
        self.gained = Some(program);
        self.known.remove(&tid);
        ptrace::let_go(tid);
        Resume::Leave
    }

    fn on_exec(&mut self, pid: Tid) -> Result<Resume, NotFollowed> {
        self.leaderless.remove(&pid);
        self.private_kib.remove(&pid);
        let image = tracee::executed_image(pid);
        if image.is_some_and(|image| tracee::lost_privileges(pid, &image)) {
            let program = ptrace::proc_link(pid, "exe").unwrap_or_default();
            let why = format!("'{program}' would lose its privileges");
            return Err(NotFollowed::Refused(why, "run as root".to_owned()));
        }
        Ok(self.onward(0))
    }

    /// A thread ends; with it the process, unless it leaves others.
    fn on_exit(&mut self, tid: Tid) {
        let pid = processes::line(tid, "status", "Tgid:");
        let pid = pid.and_then(|pid| pid.trim().parse().ok()).unwrap_or(tid);
        if tid != pid && !self.leaderless.contains(&pid) {
            return;
        }
        let is_alone = ptrace::registers(tid)
            .is_ok_and(|registers| arch::syscall_number(&registers) == libc::SYS_exit);
        if tid == pid && is_alone {
            self.leaderless.insert(pid);
        }
        self.private_kib.insert(pid, memory::private_kib(tid));
        if pid == self.root {
            self.peak_kib = usage::line_value(tid, "status", "VmHWM:");
        }
    }

    /// That of the process with the most.
    fn reading(&self) -> Reading<u64> {
        let unread = || {
            Reading::unavailable(
                "the memory of a process of the launch could not be read at its end",
                "run as root; a process that is killed may have no memory any more",
            )
        };
        if let Some(program) = &self.gained {
            let program = program.display();
            let reason = format!("'{program}' gains privileges, and is not followed for that");
            return Reading::unavailable(reason, "run as root");
        }
        if !self.private_kib.contains_key(&self.root) {
            return unread();
        }
        let all: Option<Vec<u64>> = self.private_kib.values().copied().collect();
        all.and_then(|all| all.into_iter().max()).map_or_else(unread, Reading::Value)
    }
}

/// The next thing that happens to any of them.
fn next(alarm: &Alarm) -> Result<(Tid, i32, Box<libc::rusage>), NotFollowed> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid; both values outlive the calls.
    let mut usage: Box<libc::rusage> = Box::new(unsafe { std::mem::zeroed() });
    loop {
        if told_to_leave() || alarm.is_over() {
            return Err(NotFollowed::Late);
        }
        // SAFETY: as above.
        let pid = unsafe { libc::wait4(-1, &mut status, libc::__WALL, &mut *usage) };
        if pid > 0 {
            return Ok((pid, status, usage));
        }
        if !processes::has_children() {
            return Err(NotFollowed::Late);
        }
    }
}
