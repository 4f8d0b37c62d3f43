//! Launches that are complete when the program is ready, not when it ends.
//!
//! The launcher watches from other CPUs than the program's, every [`PROBE_INTERVAL`]; that is
//! the resolution of the result.

use super::alarm::Alarm;
use super::exit::wait;
use super::leave::told_to_leave;
use super::usage::{self, Completion};
use super::{LaunchRecord, LaunchSpec};
use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::phrases::Phrase;
use crate::linux::spawn::{Child, Prepared, Setup, spawn};
use crate::linux::{host, processes};
use crate::stdio::{Stdio, Stream};
use model::{Ending, Launch, Until};
use regex::bytes::Regex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::Signal;
use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

/// How often a port or a file is looked for.
pub const PROBE_INTERVAL: Duration = Duration::from_micros(100);

/// Output kept for matching; a longer text is matched on its last part.
const WINDOW_BYTES: usize = 1 << 20;

/// Launches, waits until the program is ready, and ends it with its children.
pub fn until_ready(
    prepared: &Prepared,
    stdio: &Stdio,
    spec: &LaunchSpec,
    cpu: Option<u32>,
) -> Result<LaunchRecord, LaunchError> {
    // Exit and entry have launches of their own.
    let mut condition = ReadyCondition::new(&spec.until)?.ok_or(LaunchError::LauncherGone)?;
    let stdio = condition.watched(stdio.clone());
    let mut setup = Setup::with_stdio(&stdio);
    let _others = cpu.map(|cpu| OtherCpus::leave_to_program(cpu, &mut setup));
    let alarm = Alarm::set(spec.timeout);
    let child = spawn(prepared, setup)?;
    // Its output has an end only where nobody here can write to it.
    drop(stdio);
    let floor_kib = usage::own_peak_kib();
    let completion = watch(&child, &mut condition, &alarm);
    drop(alarm);
    let launch = completion.launch(floor_kib);
    end(&child, &launch, spec.grace, condition);
    Ok(LaunchRecord::new(&child, launch))
}

/// A program that ends with code 0 and leaves processes running has become a daemon: these are
/// watched in its place.
fn watch(child: &Child, condition: &mut ReadyCondition, alarm: &Alarm) -> Completion {
    let now_us = || Instant::now().us_since(child.started);
    let mut ended = None;
    loop {
        if condition.holds() {
            return Completion::Ready(now_us());
        }
        if alarm.is_over() || told_to_leave() {
            return Completion::TimedOut(now_us());
        }
        let watched = ended.is_none().then_some(child);
        if sleep_or_end(watched, condition.output_pipe()) {
            // Its last words may be the ones waited for.
            if condition.holds() {
                return Completion::Ready(now_us());
            }
            ended = wait(child).map(|(ending, usage)| (now_us(), ending, Box::new(usage)));
        }
        let over = |ending| ending != Ending::Code(0) || !processes::has_children();
        if let Some((at_us, ending, usage)) = ended.take_if(|(_, ending, _)| over(*ending)) {
            return Completion::Ended(at_us, ending, usage);
        }
    }
}

/// Sleeps until there is output, the process ends (true) or the interval is over.
fn sleep_or_end(child: Option<&Child>, output: Option<&File>) -> bool {
    let interval = if output.is_some() { Duration::from_millis(50) } else { PROBE_INTERVAL };
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(interval.subsec_nanos()) };
    let ends = child.map(|child| PollFd::new(&child.pidfd, PollFlags::IN));
    let mut polls: Vec<PollFd<'_>> = ends.into_iter().collect();
    polls.extend(output.map(|output| PollFd::new(output, PollFlags::IN)));
    // An interrupted sleep is one that is over.
    let _ = poll(&mut polls, Some(&timeout));
    child.is_some() && !polls[0].revents().is_empty()
}

/// What "ready" means, with what is needed to see it.
pub(in crate::linux) enum ReadyCondition {
    Output { pattern: Regex, pipe: File, write_end: Option<Stream>, seen: Vec<u8>, open: bool },
    Port(u16),
    File(String),
}

impl ReadyCondition {
    /// Prepares to watch; `None` for what is not watched from outside. An error where the
    /// condition holds already or cannot be watched.
    pub(in crate::linux) fn new(until: &Until) -> Result<Option<Self>, LaunchError> {
        let condition = match until {
            Until::Output(pattern) => Self::output(pattern)?,
            Until::Port(port) => ReadyCondition::Port(*port),
            Until::File(path) => ReadyCondition::File(path.clone()),
            Until::Exit | Until::Entry => return Ok(None),
        };
        match &condition {
            ReadyCondition::Port(port) if answers(*port) => {
                Err(LaunchError::AlreadyReady(format!(
                    "port {port} already answers before the launch; stop that server (ss -ltnp shows \
                 it) or choose another port"
                )))
            }
            ReadyCondition::File(path) if Path::new(path).exists() => {
                Err(LaunchError::AlreadyReady(format!(
                    "'{path}' already exists before the launch; remove it, or {}",
                    Phrase::RemoveBeforeLaunch.words()
                )))
            }
            _ => Ok(Some(condition)),
        }
    }

    fn output(pattern: &str) -> Result<Self, LaunchError> {
        let pattern = super::pattern(pattern).map_err(|error| {
            let until_output = Phrase::UntilOutput.words();
            LaunchError::AlreadyReady(format!("{until_output}: {error}; correct the expression"))
        })?;
        let failed = LaunchError::failed("creating a pipe for the output", "raise ulimit -n");
        let (read_end, write_end) = io::pipe().map_err(failed)?;
        let pipe = File::from(OwnedFd::from(read_end));
        fcntl_setfl(&pipe, OFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
        let write_end = Some(Stream::from(write_end));
        Ok(ReadyCondition::Output { pattern, pipe, write_end, seen: Vec::new(), open: true })
    }

    /// The streams with which the program is launched, once: its output goes here where it is what
    /// is looked at.
    pub(in crate::linux) fn watched(&mut self, stdio: Stdio) -> Stdio {
        let write_end = match self {
            ReadyCondition::Output { write_end, .. } => write_end.take(),
            _ => None,
        };
        match write_end {
            Some(write_end) => stdio.with_output(write_end),
            None => stdio,
        }
    }

    /// What becomes readable. A pipe that every process has closed always is, so it is left out.
    fn output_pipe(&self) -> Option<&File> {
        match self {
            ReadyCondition::Output { pipe, open: true, .. } => Some(pipe),
            _ => None,
        }
    }

    /// Whether the program is ready.
    pub(in crate::linux) fn holds(&mut self) -> bool {
        match self {
            ReadyCondition::Output { pattern, pipe, seen, open, .. } => {
                let before = seen.len();
                *open = drain(pipe, seen);
                let holds = seen.len() > before && pattern.is_match(seen);
                let surplus = seen.len().saturating_sub(WINDOW_BYTES);
                seen.drain(..surplus);
                holds
            }
            ReadyCondition::Port(port) => answers(*port),
            ReadyCondition::File(path) => Path::new(path).exists(),
        }
    }
}

/// Appends what the pipe holds; whether anybody can still write to it.
fn drain(pipe: &mut File, seen: &mut Vec<u8>) -> bool {
    let mut chunk = [0; 4096];
    loop {
        match pipe.read(&mut chunk) {
            Ok(0) => return false,
            Ok(count) => seen.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return true,
        }
    }
}

/// Whether a connection to the port is accepted on a loopback address.
fn answers(port: u16) -> bool {
    let limit = Duration::from_millis(100);
    [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))]
        .iter()
        .any(|address| TcpStream::connect_timeout(address, limit).is_ok())
}

/// Ends a program that is still running: SIGTERM, then SIGKILL for it and what it left.
fn end(child: &Child, launch: &Launch, grace: Duration, mut condition: ReadyCondition) {
    if launch.ending == Ending::Ready {
        // The child has not been waited for, so the id is still its own.
        processes::signal(child.pid, Signal::TERM);
        let deadline = std::time::Instant::now() + grace;
        while std::time::Instant::now() < deadline && !told_to_leave() {
            // Keeps the pipe from filling up, which would block the program's end.
            if let ReadyCondition::Output { pipe, seen, .. } = &mut condition {
                drain(pipe, seen);
                seen.clear();
            }
            if sleep_or_end(Some(child), None) {
                break;
            }
        }
        processes::signal_descendants(processes::own_pid(), Signal::TERM);
    }
    processes::end_descendants(processes::own_pid(), Duration::from_secs(5));
}

/// Keeps the launcher, which is pinned to the program's CPU, off it for as long as it lives.
struct OtherCpus {
    cpu: u32,
}

impl OtherCpus {
    fn leave_to_program(cpu: u32, setup: &mut Setup<'_>) -> Self {
        setup.cpu = Some(cpu);
        let online = host::processors();
        let all: Vec<u32> = (0..online.max(cpu + 1)).filter(|&other| other != cpu).collect();
        // On a machine with one CPU there is nowhere else to go; the result is then coarser.
        let _ = host::pin(&all);
        OtherCpus { cpu }
    }
}

impl Drop for OtherCpus {
    fn drop(&mut self) {
        let _ = host::pin(&[self.cpu]);
    }
}
