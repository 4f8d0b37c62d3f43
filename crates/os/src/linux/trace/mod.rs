//! Traced launches: when a program passes exec, mapping, relocation, entry, `main` and exit,
//! what it looks up in the file system, and how many CPUID instructions its start executes.
//!
//! The tracer stops a process as seldom as it can: at events of the kernel, at three system
//! calls chosen by a seccomp filter, and at breakpoints that vanish when hit.

pub(in crate::linux) mod arch;
pub(in crate::linux) mod breakpoints;
mod counting;
mod cpuid;
mod ending;
mod files;
mod filter;
mod hits;
mod images;
mod lives;
mod loader;
mod marks;
mod permitted;
pub(in crate::linux) mod ptrace;
mod session;
mod start;
mod symbols;

pub use permitted::permitted;

use super::spawn::{Child, Prepared, Setup, spawn};
use super::{LaunchError, host};
use model::{Command, Ending, PhaseTrace};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// What a traced launch is to record, besides the marks.
#[derive(Clone, Debug)]
pub struct TraceRequest {
    /// Record calls on the file system. Two more stops each: such a launch's times say nothing.
    pub record_files: bool,
    /// Count CPUID instructions up to `main` in every process of the launch. Each is a stop.
    /// Libraries opened with dlopen before `main` are left out.
    pub count_cpuid: bool,
    /// The launch is ended after this time.
    pub timeout: Duration,
    /// CPU for tracer and tracees, which makes stops several times cheaper; `None` leaves them
    /// where the scheduler puts them.
    pub cpu: Option<u32>,
    /// Becomes stdin, stdout and stderr.
    pub stdio: [RawFd; 3],
}

impl TraceRequest {
    /// Marks only, on the present CPU, for at most a minute.
    pub fn new(stdio: [RawFd; 3]) -> Self {
        // SAFETY: takes no arguments; fails only on kernels that lack it.
        let cpu = unsafe { libc::sched_getcpu() };
        TraceRequest {
            record_files: false,
            count_cpuid: false,
            timeout: Duration::from_secs(60),
            cpu: u32::try_from(cpu).ok(),
            stdio,
        }
    }
}

/// A traced launch.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedLaunch {
    /// What was recorded.
    pub trace: PhaseTrace,
    /// How the launched process ended.
    pub ending: Ending,
    /// Processes that it left running; they have been ended.
    pub left_running: u32,
}

/// Launches `command` under ptrace and waits for its end. Nothing of it is left running.
///
/// Processes started with CLONE_UNTRACED escape, and programs that use ptrace themselves find
/// it taken.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where ptrace or seccomp filters are refused; otherwise what an
/// ordinary launch of `command` meets.
pub fn trace(command: &Command, request: &TraceRequest) -> Result<TracedLaunch, LaunchError> {
    let prepared = Prepared::new(command, &[])?;
    let (started, on_start) = channel();
    let (done, on_done) = channel();
    thread::scope(|scope| {
        // ptrace ties tracees to one thread, and pinning must not outlive the launch.
        scope.spawn(move || {
            let result = launch(prepared, request, command, &started);
            // The receiver waits for this message, so it cannot be gone.
            let _ = done.send(result);
        });
        wait(&on_start, &on_done, request.timeout)
    })
}

/// Waits for the launch, and ends it where it takes too long.
fn wait(
    on_start: &Receiver<OwnedFd>,
    on_done: &Receiver<Result<TracedLaunch, LaunchError>>,
    timeout: Duration,
) -> Result<TracedLaunch, LaunchError> {
    let gone = || Err(LaunchError::LauncherGone);
    match on_done.recv_timeout(timeout) {
        Ok(result) => result,
        Err(RecvTimeoutError::Disconnected) => gone(),
        Err(RecvTimeoutError::Timeout) => {
            if let Ok(process) = on_start.recv() {
                // SAFETY: passes a descriptor that is open and integers.
                unsafe {
                    let fd = process.as_raw_fd();
                    libc::syscall(libc::SYS_pidfd_send_signal, fd, libc::SIGKILL, 0, 0)
                };
            }
            let mut result = on_done.recv().unwrap_or_else(|_| gone());
            if let Ok(launch) = &mut result
                && launch.ending == Ending::Signal(libc::SIGKILL)
            {
                launch.ending = Ending::TimedOut;
            }
            result
        }
    }
}

/// Everything that happens on the tracer's thread.
fn launch(
    prepared: Prepared,
    request: &TraceRequest,
    command: &Command,
    started: &Sender<OwnedFd>,
) -> Result<TracedLaunch, LaunchError> {
    if let Some(cpu) = request.cpu {
        host::pin(&[cpu]).map_err(|source| LaunchError::System {
            action: "running the tracer on one CPU",
            source,
            remedy: "choose a CPU that taskset -p $$ lists",
        })?;
    }
    arch::prepare();
    let map_library = images::prepare(&command.program);
    let filter = filter::build(&filter::Wanted {
        own_exec: prepared.program_address(),
        map_library,
        files: request.record_files,
    });
    let setup = Setup { stdio: request.stdio, cpu: None, trace_me: true, filter: &filter };
    let child = match spawn(&prepared, setup) {
        Ok(child) => child,
        Err(error) => return Err(permitted().err().unwrap_or(error)),
    };
    let session = session::Session::new(request, &child, map_library);
    let Child { pidfd, .. } = child;
    // The receiver outlives this thread.
    let _ = started.send(pidfd);
    session.run()
}
