//! Launches that are complete when the program has ended.

use super::alarm::Alarm;
use super::leave::{end_everything, told_to_leave};
use super::{LaunchRecord, LaunchSpec, usage};
use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::processes;
use crate::linux::spawn::{Child, Prepared, Setup, spawn};
use crate::stdio::Stdio;
use model::Ending;
use rustix::process::Signal;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// The path that is timed with the least in it: clone, execve, waitid. What the program leaves
/// running is ended.
pub fn until_exit(
    prepared: &Prepared,
    stdio: &Stdio,
    spec: &LaunchSpec,
) -> Result<LaunchRecord, LaunchError> {
    launched(prepared, stdio, spec, end_everything)
}

/// The same, but what the program leaves running goes on until the launcher itself ends.
pub fn and_leave(
    prepared: &Prepared,
    stdio: &Stdio,
    spec: &LaunchSpec,
) -> Result<LaunchRecord, LaunchError> {
    launched(prepared, stdio, spec, || 0)
}

fn launched(
    prepared: &Prepared,
    stdio: &Stdio,
    spec: &LaunchSpec,
    tidy: impl FnOnce() -> u32,
) -> Result<LaunchRecord, LaunchError> {
    let alarm = Alarm::set(spec.timeout);
    let child = spawn(prepared, Setup::with_stdio(stdio))?;
    let mut waited = wait(&child);
    let mut ended = Instant::now();
    // Read at once: the launcher's peak at the clone is at most this.
    let floor_kib = usage::own_peak_kib();
    let mut timed_out = false;
    let mut ending = Gently::within(spec.grace);
    while waited.is_none() {
        timed_out = alarm.is_over();
        if (timed_out || told_to_leave()) && !ending.go_on() {
            return Err(LaunchError::Unstoppable(child.pid));
        }
        waited = wait(&child);
        ended = Instant::now();
    }
    drop(alarm);
    let Some((ending, usage)) = waited else { return Err(LaunchError::LauncherGone) };
    let ending = if timed_out { Ending::TimedOut } else { ending };
    let left_running = tidy();
    let total_us = ended.us_since(child.started);
    let launch = usage::launch(total_us, ending, &usage, floor_kib, left_running);
    Ok(LaunchRecord::new(&child, launch))
}

/// A program that lives on after this many SIGKILLs, 50 ms apart, is not ours to end.
const MOST_KILLS: u32 = 100;

/// Ends the launcher's programs: first asks them to (SIGTERM), then does (SIGKILL).
struct Gently {
    grace: Duration,
    asked: Option<std::time::Instant>,
    kills: u32,
}

impl Gently {
    fn within(grace: Duration) -> Self {
        Gently { grace, asked: None, kills: 0 }
    }

    /// The next step, to be taken every 50 ms; false when nothing helps.
    fn go_on(&mut self) -> bool {
        let own = processes::own_pid();
        match self.asked {
            None if !told_to_leave() => {
                self.asked = Some(std::time::Instant::now());
                processes::signal_descendants(own, Signal::TERM);
            }
            Some(asked) if asked.elapsed() < self.grace && !told_to_leave() => {}
            _ => {
                processes::kill_descendants(own);
                self.kills += 1;
            }
        }
        self.kills <= MOST_KILLS
    }
}

/// Waits for the child; `None` when a signal came first.
pub fn wait(child: &Child) -> Option<(Ending, libc::rusage)> {
    // SAFETY: all-zero values are valid for both; the raw system call, unlike libc's waitid,
    // also fills in the usage of exactly this child.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let mut usage: libc::rusage = std::mem::zeroed();
        let result = libc::syscall(
            libc::SYS_waitid,
            libc::P_PIDFD,
            child.pidfd.as_raw_fd(),
            &mut info,
            libc::WEXITED,
            &mut usage,
        );
        if result < 0 {
            let gone = io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD);
            return gone.then_some((Ending::Signal(libc::SIGKILL), usage));
        }
        let ending = match info.si_code {
            libc::CLD_EXITED => Ending::Code(info.si_status()),
            _ => Ending::Signal(info.si_status()),
        };
        Some((ending, usage))
    }
}
