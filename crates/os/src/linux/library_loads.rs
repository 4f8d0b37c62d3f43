//! Loading libraries one after the other, each by dlopen, and what each load costs.
//!
//! ```text
//! headstart ── fork ──► keeper ── fork ──► loads one library after the other
//! ```
//!
//! The last process does nothing but dlopen and read the clock: what it finds is in memory shared
//! with headstart. A library that crashes, exits or hangs ends that process and nothing else; the
//! keeper starts the next one behind it. That one first loads again, untimed, what was loaded
//! before, so that the times of the others are those of the list without the library that failed.

mod child;
mod keeper;
mod table;

pub use crate::timed_loads::{LoadEnding, TimedLoad, TimedLoads};

use super::error::LaunchError;
use super::launcher::leave;
use super::stream::null_device;
use super::{interrupt, processes};
use keeper::Keeper;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Signal, WaitOptions, set_child_subreaper};
use std::ffi::CString;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use table::{Entry, State, Table};

/// How long to wait between two looks at how far it is.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// How long the keeper may take to end what it has started.
const PATIENCE: Duration = Duration::from_secs(8);
/// Between two looks whether it has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// What to load.
#[derive(Clone, Debug)]
pub struct LoadRequest {
    /// As dlopen takes them: a name to be searched for, or a path.
    pub names: Vec<CString>,
    /// A library that takes longer is given up.
    pub timeout: Duration,
    /// Whether to look, after each load, at the modules that it brought and at what it left running
    /// or printed. The times of such loads are those of a busier process.
    pub watch: bool,
}

/// Processes that are ready to load.
pub struct LibraryLoads {
    stream: UnixStream,
    /// Until it has ended.
    keeper: Option<libc::pid_t>,
    table: Table,
    names: Vec<CString>,
}

impl LibraryLoads {
    /// Makes them ready. To be called while the process has one thread.
    ///
    /// # Errors
    /// There is no memory, or no process.
    pub fn prepare(request: &LoadRequest) -> Result<LibraryLoads, LaunchError> {
        let failed = LaunchError::failed(
            "the process that loads libraries could not be created",
            "check the limits on processes, memory and open files (ulimit -a)",
        );
        let table = Table::new(request.names.len()).map_err(failed)?;
        let null = null_device()?;
        let printed = memfd_create("output of libraries", MemfdFlags::CLOEXEC);
        let printed = printed.map_err(|error| failed(error.into()))?;
        let keeper = Keeper {
            names: &request.names,
            table: &table,
            timeout: request.timeout,
            watch: request.watch,
            null: null.as_raw_fd(),
            printed: printed.as_raw_fd(),
        };
        let life = |stream, parent| keeper.live(stream, parent);
        let (stream, keeper) = leave::fork(life).map_err(failed)?;
        Ok(LibraryLoads { stream, keeper: Some(keeper), names: request.names.clone(), table })
    }

    /// Loads everything; `observe` is told how many are done now and then.
    ///
    /// # Errors
    /// The user wants to stop, or somebody has ended the processes.
    pub fn load(mut self, observe: &mut dyn FnMut(usize)) -> Result<TimedLoads, LaunchError> {
        // What a library leaves behind when it ends the keeper is ours to end.
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        self.stream.write_all(&[1]).map_err(|_| self.gone())?;
        loop {
            let mut fds = [PollFd::new(&self.stream, PollFlags::IN)];
            match poll(&mut fds, Some(&LOOK)) {
                Ok(found) if found > 0 => break,
                _ if interrupt::requested() => return Err(LaunchError::Interrupted),
                _ => {
                    // A library may have stopped it.
                    self.keeper.iter().for_each(|pid| processes::signal(*pid, Signal::CONT));
                    observe(self.table.header().at.load(SeqCst) as usize);
                }
            }
        }
        self.stream.read_exact(&mut [0]).map_err(|_| self.gone())?;
        Ok(self.found())
    }

    /// Somebody has ended the keeper: most likely the library that was being loaded.
    fn gone(&mut self) -> LaunchError {
        self.end();
        // What a library has started lost its keeper, and is ours now.
        processes::end_descendants(processes::own_pid(), PATIENCE);
        let number = self.table.header().at.load(SeqCst) as usize;
        let name = number.checked_sub(1).and_then(|index| self.names.get(index));
        let during = name.map_or("before the first was loaded".to_owned(), |name| {
            format!("while '{}' was being loaded", name.to_string_lossy())
        });
        LaunchError::System {
            action: format!("the processes that load libraries were ended {during}").into(),
            source: io::Error::other("their keeper is gone"),
            remedy: "leave that library out of the list".into(),
        }
    }

    /// Ends the keeper with what it has started, unless it has ended.
    fn end(&mut self) {
        let Some(keeper) = self.keeper.take() else { return };
        // The keeper sees the end of the stream, and ends what it has started.
        let _ = self.stream.shutdown(Shutdown::Both);
        // It is our child and not yet waited for, so the id is still its own.
        processes::signal(keeper, Signal::TERM);
        let deadline = Instant::now() + PATIENCE;
        while processes::wait_for(keeper, WaitOptions::NOHANG).is_none() {
            if Instant::now() > deadline {
                processes::signal(keeper, Signal::KILL);
                processes::wait_for(keeper, WaitOptions::empty());
                return;
            }
            // A library may have stopped it.
            processes::signal(keeper, Signal::CONT);
            std::thread::sleep(PAUSE);
        }
    }

    fn found(&self) -> TimedLoads {
        let header = self.table.header();
        let loads = (0..self.names.len()).map(|index| timed(self.table.entry(index)));
        TimedLoads {
            loads: loads.collect(),
            modules: unique(self.table.all_names()),
            processes: header.processes.load(SeqCst),
            threads: header.threads.load(SeqCst).saturating_sub(1),
            left_running: header.left_running.load(SeqCst),
        }
    }
}

impl Drop for LibraryLoads {
    fn drop(&mut self) {
        self.end();
        let _ = set_child_subreaper(None);
    }
}

fn timed(entry: &Entry) -> TimedLoad {
    let detail = entry.detail.load(SeqCst);
    let ending = match entry.state() {
        State::Loaded => LoadEnding::Loaded,
        State::Refused => LoadEnding::Refused(entry.text()),
        State::Exited => LoadEnding::Exited(detail),
        State::Killed => LoadEnding::Killed(detail),
        State::Traced => LoadEnding::Traced(detail),
        State::TimedOut | State::Waiting | State::Loading => LoadEnding::TimedOut,
    };
    let returned = matches!(ending, LoadEnding::Loaded | LoadEnding::Refused(_));
    TimedLoad {
        us: returned.then(|| entry.took_ns.load(SeqCst) as f64 / 1000.0),
        path: entry.path().filter(|_| ending == LoadEnding::Loaded),
        ending,
        modules: entry.modules.load(SeqCst),
        came_with: None,
        minor_faults: entry.minor_faults.load(SeqCst),
        major_faults: entry.major_faults.load(SeqCst),
        read_bytes: entry.read_bytes.load(SeqCst),
        has_side_effects: entry.side_effects.load(SeqCst) != 0,
    }
}

/// Each path once, where it came first; the process before may have had the same.
fn unique(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut known = std::collections::HashSet::new();
    paths.into_iter().filter(|path| known.insert(path.clone())).collect()
}

/// What a name is for dlopen.
///
/// # Errors
/// It contains a NUL byte.
pub fn c_name(name: &std::ffi::OsStr) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    Ok(CString::new(name.as_bytes())?)
}

#[cfg(test)]
mod tests;
