//! A launch that is watched while it runs: started, its sources drained, waited for, cleaned up.

mod leftovers;

use super::clock::Instant;
use super::error::LaunchError;
use super::spawn::{Child, Prepared, Setup, spawn};
use model::Command;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// How a recorded launch is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// A launch that takes longer is ended; what it recorded until then is kept.
    pub timeout: Duration,
    /// CPU to pin the launch to; the recorder itself then stays off it where it can.
    pub cpu: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Options { timeout: Duration::from_secs(60), cpu: None }
    }
}

/// What the recorder reads while the launch runs.
pub(crate) trait Source {
    /// Descriptors that become readable when there is something to drain.
    fn descriptors(&self) -> Vec<RawFd>;
    /// Takes a bounded amount of what is there, without waiting. True where more may be left.
    fn drain(&mut self) -> bool;
}

/// A watched launch that has ended.
pub(crate) struct Ended {
    pub(crate) pid: u32,
    pub(crate) started: Instant,
    pub(crate) total_us: f64,
    /// Of the launched process and the children that it waited for.
    pub(crate) usage: libc::rusage,
}

/// Runs `work` on a thread of its own, which is what [`spawn`] asks for, off the launch's CPU.
pub(crate) fn on_own_thread<T: Send>(
    options: &Options,
    work: impl FnOnce() -> Result<T, LaunchError> + Send,
) -> Result<T, LaunchError> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if let Some(cpu) = options.cpu {
                stay_off(cpu);
            }
            work()
        });
        thread.join().unwrap_or(Err(LaunchError::LauncherGone))
    })
}

/// Takes `cpu` from the calling thread's affinity where another one is left.
fn stay_off(cpu: u32) {
    // SAFETY: plain calls on a set that outlives them. Where they fail the recorder shares the
    // launch's CPU, which costs precision and nothing else.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &mut set) == 0 {
            libc::CPU_CLR(cpu as usize, &mut set);
            if libc::CPU_COUNT(&set) > 0 {
                libc::sched_setaffinity(0, size, &set);
            }
        }
    }
}

/// Launches `command` with `extra` variables and `stderr`, and drains `source` until its end.
///
/// stdin and stdout are `/dev/null`. Processes left running are ended. To be called from a
/// thread made by [`on_own_thread`].
pub(crate) fn attend(
    command: &Command,
    extra: &[(&str, &str)],
    stderr: Option<RawFd>,
    options: &Options,
    source: &mut dyn Source,
) -> Result<Ended, LaunchError> {
    let null = File::options().read(true).write(true).open("/dev/null").map_err(|source| {
        LaunchError::System { action: "opening /dev/null", source, remedy: "mount /dev" }
    })?;
    let null = null.as_raw_fd();
    let marker = leftovers::marker();
    let mut extra = extra.to_vec();
    extra.push((leftovers::VARIABLE, &marker));
    let prepared = Prepared::new(command, &extra)?;
    let mut setup = Setup::with_stdio([null, null, stderr.unwrap_or(null)]);
    setup.cpu = options.cpu;
    let child = spawn(&prepared, setup)?;
    let ended = watch(&child, options, source);
    leftovers::end(&marker);
    while source.drain() {}
    ended
}

/// Drains `source` until `child` has ended; ends it when its time is over.
fn watch(child: &Child, options: &Options, source: &mut dyn Source) -> Result<Ended, LaunchError> {
    let mut fds = vec![pollfd(child.pidfd.as_raw_fd())];
    fds.extend(source.descriptors().into_iter().map(pollfd));
    let deadline = std::time::Instant::now() + options.timeout;
    let mut more = false;
    loop {
        let left = deadline.saturating_duration_since(std::time::Instant::now());
        if left.is_zero() {
            kill(child);
            return wait(child);
        }
        let wait_ms = if more { 0 } else { left.as_millis().min(1000) as libc::c_int + 1 };
        // SAFETY: `fds` is a valid array of the given length.
        let ready = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, wait_ms) };
        if ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            let error = LaunchError::system("waiting for the launch", "run the command again");
            kill(child);
            wait(child)?;
            return Err(error);
        }
        if ready > 0 && fds[0].revents != 0 {
            return wait(child);
        }
        if ready > 0 || more {
            more = source.drain();
        }
    }
}

fn pollfd(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

fn kill(child: &Child) {
    // SAFETY: no pointer but a null siginfo. An error means that the process has ended already.
    unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            child.pidfd.as_raw_fd(),
            libc::SIGKILL,
            std::ptr::null::<libc::siginfo_t>(),
            0,
        );
    }
}

/// Reaps the child and takes the time.
fn wait(child: &Child) -> Result<Ended, LaunchError> {
    // SAFETY: an all-zero rusage is valid; the calls write into values that outlive them.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let mut status = 0;
        while libc::wait4(child.pid, &mut status, 0, &mut usage) < 0 {
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return Err(LaunchError::system("waiting for the launch", "run it again"));
            }
        }
        usage
    };
    let total_us = Instant::now().us_since(child.started);
    Ok(Ended { pid: child.pid as u32, started: child.started, total_us, usage })
}
