//! The launcher process itself.

use super::leave::{self, end_everything, told_to_leave};
use super::source::{poll, readable};
use super::wire::{self, Order, Reply};
use super::{Configuration, LaunchSpec, Once, Started, entry, exit, peak, ready, schedule};
use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::host;
use crate::linux::processes;
use crate::linux::spawn::Prepared;
use model::{Ending, Launch, Reading, Until};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Serves requests until the stream ends or SIGTERM comes; never returns.
pub fn serve(mut stream: UnixStream, parent: libc::pid_t) -> ! {
    become_launcher(parent);
    let greeted = stream.write_all(&processes::own_pid().to_le_bytes()).is_ok();
    let mut launcher = Server { configuration: Configuration::default(), slots: Vec::new() };
    while greeted && !told_to_leave() {
        launcher.stay_awake(&stream);
        let Ok(Some((request, fds))) = wire::receive::<Order>(&mut stream) else { break };
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
    leave::listen();
    leave::live_and_die_with(parent, c"launcher");
}

/// headstart asks for the next launch sooner than this, unless it has something else to do.
const AWAKE: Duration = Duration::from_micros(300);

/// stdin, stdout and stderr.
const STDIO: usize = 3;

fn too_many_files() -> LaunchError {
    LaunchError::System {
        action: "the launcher process cannot have more open files",
        source: std::io::Error::from_raw_os_error(libc::EMFILE),
        remedy: "raise the limit on open files: ulimit -n",
    }
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
    /// Waits for the next request for a moment without sleeping, so that a launch does not begin
    /// on a CPU that has just been woken. Only on a CPU of its own.
    fn stay_awake(&self, stream: &UnixStream) {
        if self.configuration.cpu.is_none() || host::processors() < 2 {
            return;
        }
        let started = std::time::Instant::now();
        let mut fds = [readable(stream.as_raw_fd())];
        while matches!(poll(&mut fds, 0), Ok(0)) && started.elapsed() < AWAKE {
            std::hint::spin_loop();
        }
    }

    fn answer(&mut self, request: Order, fds: Vec<OwnedFd>) -> Reply {
        let result = match request {
            Order::Configure(configuration) => self.configure(configuration),
            // Of those that the process may not open any more, the kernel passes none on.
            Order::Prepare { .. } if fds.len() < STDIO => Err(too_many_files()),
            Order::Prepare { command, environment, instead_of } => {
                let extra: Vec<_> =
                    environment.iter().map(|(name, value)| (&**name, &**value)).collect();
                Prepared::new(&command, &extra).map(|prepared| {
                    let slot = Slot { prepared, fds, small_peak: None };
                    match instead_of.and_then(|index| self.slots.get_mut(index)) {
                        Some(kept) => *kept = slot,
                        None => self.slots.push(slot),
                    }
                    Reply::Done
                })
            }
            Order::Launch { slot, spec } => {
                self.launch(slot, &spec).map(|launch| Reply::Launched(Box::new(launch)))
            }
            Order::Once { slot, spec } => {
                self.once(slot, &spec).map(|once| Reply::LaunchedOnce(Box::new(once)))
            }
            Order::Aside { slot, spec } => {
                self.aside(slot, &spec).map(|once| Reply::LaunchedOnce(Box::new(once)))
            }
            Order::LaunchMany { slot, spec, count } => {
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
        match spec.until {
            Until::Entry => entry::until_entry(&slot.prepared, stdio, spec),
            _ => exit::until_exit(&slot.prepared, stdio, spec),
        }
    }

    fn aside(&mut self, slot: usize, spec: &LaunchSpec) -> Result<Once, LaunchError> {
        let (slot, stdio) = self.slot(slot)?;
        exit::and_leave(&slot.prepared, stdio, spec)
    }

    fn launch(&mut self, slot: usize, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
        let cpu = self.configuration.cpu;
        let (slot, stdio) = self.slot(slot)?;
        let mut launch = match spec.until {
            Until::Exit => exit::until_exit(&slot.prepared, stdio, spec)?.launch,
            Until::Entry => {
                return entry::until_entry(&slot.prepared, stdio, spec).map(|once| once.launch);
            }
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
