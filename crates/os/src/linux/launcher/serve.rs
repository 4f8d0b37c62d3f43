//! The launcher process itself.

use super::alarm::Alarm;
use super::wire::{self, Reply, Request};
use super::{Configuration, LaunchSpec, Once, Started, entry, guard, peak, ready, schedule, usage};
use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::processes;
use crate::linux::spawn::{Child, Prepared, Setup, spawn};
use model::{Ending, Launch, Reading, Until};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static LEAVE: AtomicBool = AtomicBool::new(false);

/// Whether headstart has gone or wants the launcher gone.
pub fn told_to_leave() -> bool {
    LEAVE.load(Ordering::Relaxed)
}

extern "C" fn on_signal(signal: libc::c_int) {
    // SIGALRM only interrupts a wait. The others reach the whole foreground group; headstart
    // decides what follows.
    if signal == libc::SIGTERM {
        LEAVE.store(true, Ordering::Relaxed);
    }
}

/// Serves requests until the stream ends or SIGTERM comes; never returns.
pub fn serve(mut stream: UnixStream, parent: libc::pid_t) -> ! {
    become_launcher(parent);
    if stream.write_all(&processes::own_pid().to_le_bytes()).is_err() {
        LEAVE.store(true, Ordering::Relaxed);
    }
    let mut launcher = Server { configuration: Configuration::default(), slots: Vec::new() };
    while !told_to_leave() {
        let Ok(Some((request, fds))) = wire::receive::<Request>(&mut stream) else { break };
        let reply = launcher.answer(request, fds);
        // A launch that was cut short is no result.
        if told_to_leave() || wire::send(&stream, &reply, &[]).is_err() {
            break;
        }
    }
    end_everything();
    // SAFETY: leaves without running the parent's exit handlers a second time.
    unsafe { libc::_exit(0) }
}

fn become_launcher(parent: libc::pid_t) {
    use libc::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    for signal in [SIGTERM, SIGALRM, SIGINT, SIGHUP, SIGQUIT] {
        // SAFETY: plain system calls; the handler only stores to an atomic.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
    guard::live_and_die_with(parent, c"launcher");
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
            Request::Once { slot, spec } => {
                self.once(slot, &spec).map(|once| Reply::LaunchedOnce(Box::new(once)))
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

    fn slot(&mut self, slot: usize) -> Result<(&mut Slot, [libc::c_int; 3]), LaunchError> {
        let slot = self.slots.get_mut(slot).ok_or(LaunchError::LauncherGone)?;
        let [stdin, stdout, stderr] = &slot.fds[..] else { return Err(LaunchError::LauncherGone) };
        let stdio = [stdin.as_raw_fd(), stdout.as_raw_fd(), stderr.as_raw_fd()];
        Ok((slot, stdio))
    }

    fn once(&mut self, slot: usize, spec: &LaunchSpec) -> Result<Once, LaunchError> {
        let (slot, stdio) = self.slot(slot)?;
        until_exit(&slot.prepared, stdio, spec)
    }

    fn launch(&mut self, slot: usize, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
        let cpu = self.configuration.cpu;
        let (slot, stdio) = self.slot(slot)?;
        let mut launch = match spec.until {
            Until::Exit => until_exit(&slot.prepared, stdio, spec)?.launch,
            Until::Entry => return entry::until_entry(&slot.prepared, stdio, spec),
            Until::Output(_) | Until::Port(_) | Until::File(_) => {
                return ready::until_ready(&slot.prepared, stdio, spec, cpu);
            }
        };
        let cut_short = launch.ending == Ending::TimedOut || told_to_leave();
        if launch.peak_rss_kib.get().is_none() && !cut_short {
            let small_peak = match slot.small_peak.take() {
                Some(peak) => peak,
                None => peak::measure(&slot.prepared, stdio, spec.timeout)?,
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
) -> Result<Once, LaunchError> {
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
    let left_running = end_everything();
    let total_us = ended.us_since(child.started);
    let launch = usage::launch(total_us, ending, &usage, floor_kib, left_running);
    Ok(Once { pid: child.pid as u32, ticks: child.started.ticks(), launch })
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
                processes::signal_descendants(own, libc::SIGTERM);
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
