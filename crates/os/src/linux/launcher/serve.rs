//! The launcher process itself.

use super::copies::HeldCopies;
use super::leave::{self, end_everything, told_to_leave};
use super::source::{poll, readable};
use super::wire::{self, LaunchPurpose, Order, Reply};
use super::{
    Configuration, CopiesRequest, LaunchRecord, LaunchSpec, entry, exit, peak, private, ready,
    schedule,
};
use crate::linux::error::LaunchError;
use crate::linux::host;
use crate::linux::place::PlacedFiles;
use crate::linux::processes;
use crate::linux::spawn::Prepared;
use crate::stdio::Stdio;
use model::{Command, Ending, Reading, Until};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Serves requests until the stream ends or SIGTERM comes; never returns.
pub fn serve(mut stream: UnixStream, parent: libc::pid_t) -> ! {
    become_launcher(parent);
    let greeted = stream.write_all(&processes::own_pid().to_le_bytes()).is_ok();
    let mut launcher =
        Server { parent, configuration: Configuration::default(), slots: Vec::new(), held: None };
    while greeted && !told_to_leave() {
        launcher.stay_awake(&stream);
        let Ok(Some((request, fds))) = wire::receive::<Order>(&mut stream) else { break };
        let reply = launcher.answer(request, fds);
        // A launch that was cut short is no result.
        if told_to_leave() || wire::send(&stream, &reply, &[]).is_err() {
            break;
        }
    }
    drop(launcher);
    end_everything();
    leave::exit()
}

fn become_launcher(parent: libc::pid_t) {
    leave::listen();
    leave::live_and_die_with(parent, c"launcher");
}

/// headstart asks for the next launch sooner than this, unless it has something else to do.
const AWAKE: Duration = Duration::from_micros(300);

fn too_many_files() -> LaunchError {
    LaunchError::failed(
        "the launcher process cannot have more open files",
        "raise the limit on open files: ulimit -n",
    )(std::io::Error::from_raw_os_error(libc::EMFILE))
}

struct Server {
    /// The guardian.
    parent: libc::pid_t,
    configuration: Configuration,
    slots: Vec<Slot>,
    held: Option<HeldCopies>,
}

struct Slot {
    prepared: Prepared,
    stdio: Stdio,
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
            Order::Prepare { command, environment, instead_of } => {
                self.prepare(&command, &environment, instead_of, fds)
            }
            Order::Launch { slot, spec, purpose } => {
                self.launch(slot, &spec, purpose).map(Reply::Launched)
            }
            Order::Hold { slot, request } => self.hold(slot, request),
            Order::Enter(place) => self.enter(&place),
            Order::Release => {
                if let Some(held) = self.held.take() {
                    held.end();
                }
                Ok(Reply::Done)
            }
        };
        result.unwrap_or_else(|error| Reply::Failed {
            message: error.to_string(),
            kind: error.kind(),
        })
    }

    fn prepare(
        &mut self,
        command: &Command,
        environment: &[(String, String)],
        instead_of: Option<usize>,
        fds: Vec<OwnedFd>,
    ) -> Result<Reply, LaunchError> {
        // Of those that the process may not open any more, the kernel passes none on.
        let stdio = Stdio::received(fds).ok_or_else(too_many_files)?;
        let extra: Vec<_> = environment.iter().map(|(name, value)| (&**name, &**value)).collect();
        let slot = Slot { prepared: Prepared::new(command, &extra)?, stdio, small_peak: None };
        match instead_of.and_then(|index| self.slots.get_mut(index)) {
            Some(kept) => *kept = slot,
            None => self.slots.push(slot),
        }
        Ok(Reply::Done)
    }

    fn configure(&mut self, configuration: Configuration) -> Result<Reply, LaunchError> {
        schedule::apply(configuration)?;
        self.configuration = configuration;
        Ok(Reply::Done)
    }

    fn enter(&self, place: &PlacedFiles) -> Result<Reply, LaunchError> {
        place.enter()?;
        // A user namespace brings new credentials, with which the kernel may drop this wish.
        leave::live_and_die_with(self.parent, c"launcher");
        Ok(Reply::Done)
    }

    fn hold(&mut self, slot: usize, request: CopiesRequest) -> Result<Reply, LaunchError> {
        let slot = self.slots.get(slot).ok_or(LaunchError::LauncherGone)?;
        let (held, found) = HeldCopies::start(&slot.prepared, &slot.stdio, request)?;
        self.held = Some(held);
        Ok(Reply::Held(found))
    }

    fn launch(
        &mut self,
        slot: usize,
        spec: &LaunchSpec,
        purpose: LaunchPurpose,
    ) -> Result<Vec<LaunchRecord>, LaunchError> {
        let cpu = self.configuration.cpu;
        let slot = self.slots.get_mut(slot).ok_or(LaunchError::LauncherGone)?;
        let launch = match purpose {
            LaunchPurpose::Timing(count) => return slot.timed(spec, cpu, count),
            LaunchPurpose::Followed => return Ok(vec![slot.followed(spec)?]),
            LaunchPurpose::Once => match spec.until {
                Until::Entry => entry::until_entry,
                Until::Exit => exit::until_exit,
                Until::Output(_) | Until::Port(_) | Until::File(_) => {
                    let once = ready::until_ready(&slot.prepared, &slot.stdio, spec, cpu)?;
                    return Ok(vec![once]);
                }
            },
            LaunchPurpose::Aside => exit::and_leave,
        };
        let mut once = launch(&slot.prepared, &slot.stdio, spec)?;
        let peak = &mut once.launch.peak_rss_kib;
        if let (Until::Exit, None, Some(known)) = (&spec.until, peak.get(), &slot.small_peak) {
            *peak = known.clone();
        }
        Ok(vec![once])
    }
}

impl Slot {
    fn timed(
        &mut self,
        spec: &LaunchSpec,
        cpu: Option<u32>,
        count: u32,
    ) -> Result<Vec<LaunchRecord>, LaunchError> {
        let mut launches = Vec::new();
        for _ in 0..count {
            let launched = self.timed_once(spec, cpu)?;
            let fine = matches!(launched.launch.ending, Ending::Code(0) | Ending::Ready);
            launches.push(launched);
            if !fine || told_to_leave() {
                break;
            }
        }
        Ok(launches)
    }

    fn followed(&mut self, spec: &LaunchSpec) -> Result<LaunchRecord, LaunchError> {
        let stdio = &self.stdio;
        match private::launch(&self.prepared, stdio, spec) {
            Ok(followed) => {
                if let peak @ Reading::Value(_) = &followed.launch.peak_rss_kib {
                    // Then no launch has to be made for it.
                    self.small_peak.get_or_insert(peak.clone());
                }
                Ok(followed)
            }
            Err(not_followed) => {
                let mut launched = exit::until_exit(&self.prepared, stdio, spec)?;
                launched.launch.private_kib = Some(not_followed.reading());
                Ok(launched)
            }
        }
    }

    fn timed_once(
        &mut self,
        spec: &LaunchSpec,
        cpu: Option<u32>,
    ) -> Result<LaunchRecord, LaunchError> {
        let stdio = &self.stdio;
        let mut launched = match spec.until {
            Until::Exit => exit::until_exit(&self.prepared, stdio, spec)?,
            Until::Entry => return entry::until_entry(&self.prepared, stdio, spec),
            Until::Output(_) | Until::Port(_) | Until::File(_) => {
                return ready::until_ready(&self.prepared, stdio, spec, cpu);
            }
        };
        let launch = &mut launched.launch;
        let cut_short = launch.ending == Ending::TimedOut || told_to_leave();
        if launch.peak_rss_kib.get().is_none() && !cut_short {
            let small_peak = match self.small_peak.take() {
                Some(peak) => peak,
                None => peak::measure(&self.prepared, stdio, spec.timeout)?,
            };
            launch.peak_rss_kib = self.small_peak.insert(small_peak).clone();
        }
        Ok(launched)
    }
}
