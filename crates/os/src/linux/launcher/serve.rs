//! The launcher process itself.

use super::wire::{self, Reply, Request};
use super::{Configuration, LaunchSpec, Started, peak, ready, schedule, usage};
use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::processes;
use crate::linux::spawn::{Child, Prepared, Setup, spawn};
use model::{Ending, Launch, Reading, Until};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static LEAVE: AtomicBool = AtomicBool::new(false);
static ALARM: AtomicBool = AtomicBool::new(false);

/// Whether headstart has gone or wants the launcher gone.
pub fn told_to_leave() -> bool {
    LEAVE.load(Ordering::Relaxed)
}

extern "C" fn on_signal(signal: libc::c_int) {
    match signal {
        libc::SIGTERM => LEAVE.store(true, Ordering::Relaxed),
        libc::SIGALRM => ALARM.store(true, Ordering::Relaxed),
        // SIGINT and SIGHUP reach the whole foreground group; headstart decides what follows.
        _ => {}
    }
}

/// Serves requests until the stream ends or SIGTERM comes; never returns.
pub fn serve(mut stream: UnixStream, parent: libc::pid_t) -> ! {
    become_launcher(parent);
    let mut launcher = Server { configuration: Configuration::default(), slots: Vec::new() };
    while !told_to_leave() {
        let Ok(Some((request, fds))) = wire::receive::<Request>(&mut stream) else { break };
        let reply = launcher.answer(request, fds);
        if wire::send(&stream, &reply, &[]).is_err() {
            break;
        }
    }
    end_everything();
    // SAFETY: leaves without running the parent's exit handlers a second time.
    unsafe { libc::_exit(0) }
}

fn become_launcher(parent: libc::pid_t) {
    // SAFETY: plain system calls; the handler only stores to atomics. A parent that died before
    // PR_SET_PDEATHSIG took effect is noticed by its changed id.
    unsafe {
        for signal in [libc::SIGTERM, libc::SIGALRM, libc::SIGINT, libc::SIGHUP] {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        libc::prctl(libc::PR_SET_NAME, c"launcher".as_ptr());
        if libc::getppid() != parent {
            libc::_exit(0);
        }
    }
}

/// Ends every descendant and waits for it; gives the number of processes that were there.
pub fn end_everything() -> u32 {
    if !processes::has_children() {
        return 0;
    }
    processes::end_descendants(processes::own_pid(), Duration::from_secs(5))
}

struct Server {
    configuration: Configuration,
    slots: Vec<Slot>,
}

struct Slot {
    prepared: Prepared,
    fds: Vec<OwnedFd>,
    /// The peak of a program that is smaller than the launcher, once that was seen.
    small_peak: Option<Reading<u64>>,
}

impl Server {
    fn answer(&mut self, request: Request, fds: Vec<OwnedFd>) -> Reply {
        let result = match request {
            Request::Configure(configuration) => self.configure(configuration),
            Request::Prepare { command, environment } => {
                let extra: Vec<_> =
                    environment.iter().map(|(name, value)| (&**name, &**value)).collect();
                Prepared::new(&command, &extra).map(|prepared| {
                    self.slots.push(Slot { prepared, fds, small_peak: None });
                    Reply::Done
                })
            }
            Request::Launch { slot, spec } => {
                self.launch(slot, &spec).map(|launch| Reply::Launched(Box::new(launch)))
            }
            Request::LaunchMany { slot, spec, count } => {
                self.launch_many(slot, &spec, count).map(Reply::LaunchedMany)
            }
        };
        result.unwrap_or_else(|error| Reply::Failed {
            message: error.to_string(),
            kind: error.kind(),
        })
    }

    fn configure(&mut self, configuration: Configuration) -> Result<Reply, LaunchError> {
        schedule::apply(configuration)?;
        self.configuration = configuration;
        Ok(Reply::Done)
    }

    fn launch_many(
        &mut self,
        slot: usize,
        spec: &LaunchSpec,
        count: u32,
    ) -> Result<Vec<Started>, LaunchError> {
        let mut launches = Vec::new();
        for _ in 0..count {
            let ticks = Instant::now().ticks();
            let launch = self.launch(slot, spec)?;
            let fine = matches!(launch.ending, Ending::Code(0) | Ending::Ready);
            launches.push(Started { ticks, launch });
            if !fine || told_to_leave() {
                break;
            }
        }
        Ok(launches)
    }

    fn launch(&mut self, slot: usize, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
        let slot = self.slots.get_mut(slot).ok_or(LaunchError::LauncherGone)?;
        let [stdin, stdout, stderr] = &slot.fds[..] else { return Err(LaunchError::LauncherGone) };
        let stdio = [stdin.as_raw_fd(), stdout.as_raw_fd(), stderr.as_raw_fd()];
        if spec.until != Until::Exit {
            return ready::until_ready(&slot.prepared, stdio, spec, self.configuration.cpu);
        }
        let mut launch = until_exit(&slot.prepared, stdio, spec)?;
        if launch.peak_rss_kib.get().is_none() && launch.ending != Ending::TimedOut {
            let small_peak = match slot.small_peak.take() {
                Some(peak) => peak,
                None => peak::measure(&slot.prepared, stdio)?,
            };
            launch.peak_rss_kib = slot.small_peak.insert(small_peak).clone();
        }
        Ok(launch)
    }
}

/// The path that is timed with the least in it: clone, execve, waitid.
fn until_exit(
    prepared: &Prepared,
    stdio: [libc::c_int; 3],
    spec: &LaunchSpec,
) -> Result<Launch, LaunchError> {
    let alarm = Alarm::set(spec.timeout);
    let child = spawn(prepared, Setup::with_stdio(stdio))?;
    let mut waited = wait(&child);
    let mut ended = Instant::now();
    // Read at once: the launcher's peak at the clone is at most this.
    let floor_kib = usage::own_peak_kib();
    let mut timed_out = false;
    while waited.is_none() {
        timed_out = alarm.is_over();
        if timed_out || told_to_leave() {
            processes::kill_descendants(processes::own_pid());
        }
        waited = wait(&child);
        ended = Instant::now();
    }
    drop(alarm);
    let Some((ending, usage)) = waited else { return Err(LaunchError::LauncherGone) };
    let ending = if timed_out { Ending::TimedOut } else { ending };
    let left_running = end_everything();
    Ok(usage::launch(ended.us_since(child.started), ending, &usage, floor_kib, left_running))
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

/// Interrupts a blocking wait when the time is up, and again every 50 ms, so that a signal
/// which arrives just before the wait begins is not lost.
pub struct Alarm;

impl Alarm {
    /// Starts the timer.
    pub fn set(timeout: Duration) -> Self {
        ALARM.store(false, Ordering::Relaxed);
        Self::timer(timeout.max(Duration::from_millis(1)), Duration::from_millis(50));
        Alarm
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        ALARM.load(Ordering::Relaxed)
    }

    fn timer(first: Duration, then: Duration) {
        let timeval = |duration: Duration| libc::timeval {
            tv_sec: duration.as_secs().min(i64::MAX as u64) as i64,
            tv_usec: i64::from(duration.subsec_micros()),
        };
        let timer = libc::itimerval { it_value: timeval(first), it_interval: timeval(then) };
        // SAFETY: `timer` outlives the call.
        unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        Self::timer(Duration::ZERO, Duration::ZERO);
    }
}
