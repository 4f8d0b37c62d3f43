//! Launches programs and waits for them.
//!
//! Linux has a process for this. Here the calling thread does it: no figure of a program starts at
//! those of its parent, and the job that every program is in from its first moment ends with
//! headstart's last handle of it, however headstart ends.

mod attributes;
pub(super) mod child;
mod command_line;
mod debugged;
mod entry;
mod environment;
mod exit;
mod heard;
pub(super) mod job;
pub(super) mod loaded_image;
pub(super) mod memory;
mod pause;
pub(super) mod prepared;
pub(super) mod ready;
mod refused;
mod schedule;
mod usage;
pub(super) mod waiting;

#[cfg(test)]
mod tests;

use super::{LaunchError, interrupt};
use job::Job;
use model::{Command, DebuggedLaunch, Launch, Reading, Until};
use prepared::Prepared;

pub use crate::launching::{Configuration, GRACE, HeardOutput, LaunchRecord, LaunchSpec};
pub use crate::pattern::pattern;
pub use crate::stdio::{Stdio, Stream};
pub use heard::heard;
pub(super) use waiting::new_event;

/// The environment variable of programs that are debugged, without which Windows gives them a slower heap.
pub const NO_DEBUG_HEAP: (&str, &str) = ("_NO_DEBUG_HEAP", "1");

/// A prepared command of one launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(usize);

/// Private memory as unavailable, with the reason: launches are never followed on Windows.
pub fn unfollowed(_command: &Command) -> Option<Reading<u64>> {
    Some(usage::private_memory())
}

/// Launches prepared commands, one at a time.
pub struct Launcher {
    slots: Vec<Prepared>,
    configuration: Configuration,
    /// Those of programs that may go on beside launches.
    aside: Vec<Job>,
}

impl Launcher {
    /// A launcher. From now on a program that crashes, or that lacks a DLL, ends without a window that waits for
    /// an answer.
    ///
    /// # Errors
    /// None.
    pub fn start() -> Result<Self, LaunchError> {
        schedule::no_error_windows();
        let configuration = Configuration::default();
        Ok(Launcher { slots: Vec::new(), configuration, aside: Vec::new() })
    }

    /// Sets how launches run.
    ///
    /// # Errors
    /// The real-time class is not permitted, or this is Wine, where it does nothing; there is no such CPU.
    pub fn configure(&mut self, configuration: Configuration) -> Result<(), LaunchError> {
        schedule::check(configuration)?;
        self.configuration = configuration;
        Ok(())
    }

    /// Prepares a command with its stdin, stdout and stderr, and extra environment variables.
    ///
    /// # Errors
    /// It is a batch file, or its command line or environment cannot be passed on.
    pub fn prepare(
        &mut self,
        command: &Command,
        stdio: &Stdio,
        environment: &[(&str, &str)],
    ) -> Result<Slot, LaunchError> {
        self.slots.push(Prepared::new(command, stdio, environment)?);
        Ok(Slot(self.slots.len() - 1))
    }

    /// [`Launcher::prepare`] in the place of a command that is no longer needed.
    ///
    /// # Errors
    /// As there.
    pub fn replace(
        &mut self,
        slot: Slot,
        command: &Command,
        stdio: &Stdio,
        environment: &[(&str, &str)],
    ) -> Result<(), LaunchError> {
        self.slots[slot.0] = Prepared::new(command, stdio, environment)?;
        Ok(())
    }

    /// Launches a prepared command and waits until it is complete, as `spec.until` says, and gone with
    /// all that it left running.
    ///
    /// # Errors
    /// It cannot be started or watched, or the user wants to stop.
    pub fn launch(&mut self, slot: Slot, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
        self.once(slot, spec).map(|made| made.launch)
    }

    /// [`Launcher::launch`], and which process it was.
    ///
    /// # Errors
    /// As there.
    pub fn once(&mut self, slot: Slot, spec: &LaunchSpec) -> Result<LaunchRecord, LaunchError> {
        pause::wait();
        self.at_once(slot, spec)
    }

    /// [`Launcher::once`] without a pause before it.
    fn at_once(&self, slot: Slot, spec: &LaunchSpec) -> Result<LaunchRecord, LaunchError> {
        let made = self.to_its_end(slot, spec);
        pause::begin();
        made
    }

    fn to_its_end(&self, slot: Slot, spec: &LaunchSpec) -> Result<LaunchRecord, LaunchError> {
        let job = Job::new()?;
        let made = self.in_job(slot, spec, &job)?;
        let left_running = job.end_everything(made.pid)?;
        let left_running = if spec.until == Until::Exit { left_running } else { 0 };
        Ok(LaunchRecord { launch: Launch { left_running, ..made.launch }, ..made })
    }

    /// Launches a prepared command under the debug API, with everything that it starts, and records which
    /// DLLs are loaded when.
    ///
    /// # Errors
    /// As [`Launcher::launch`]; or it cannot be debugged.
    pub fn debugged(
        &mut self,
        slot: Slot,
        spec: &LaunchSpec,
    ) -> Result<DebuggedLaunch, LaunchError> {
        pause::wait();
        if interrupt::requested() {
            return Err(LaunchError::Interrupted);
        }
        let debugged = debugged::launch(&self.slots[slot.0], spec, self.configuration);
        pause::begin();
        debugged
    }

    /// [`Launcher::launch`]: none is followed here, as [`unfollowed`] says.
    ///
    /// # Errors
    /// As there.
    pub fn followed(&mut self, slot: Slot, spec: &LaunchSpec) -> Result<Launch, LaunchError> {
        self.launch(slot, spec)
    }

    /// Runs a prepared command for what it does. What it leaves running, such as a server, goes on
    /// until this launcher is dropped.
    ///
    /// # Errors
    /// As [`Launcher::launch`].
    pub fn aside(&mut self, slot: Slot, spec: &LaunchSpec) -> Result<LaunchRecord, LaunchError> {
        let job = Job::new()?;
        let made = self.in_job(slot, spec, &job);
        pause::begin();
        let made = made?;
        self.aside.retain(Job::has_processes);
        self.aside.push(job);
        Ok(made)
    }

    /// Launches a prepared command `count` times, one right after the other; ends early at a launch that
    /// fails.
    ///
    /// # Errors
    /// As [`Launcher::launch`].
    pub fn launch_many(
        &mut self,
        slot: Slot,
        spec: &LaunchSpec,
        count: u32,
    ) -> Result<Vec<LaunchRecord>, LaunchError> {
        let mut made = Vec::new();
        for _ in 0..count {
            let record = self.at_once(slot, spec)?;
            let ended_well = record.launch.ending.is_success();
            made.push(record);
            if !ended_well {
                break;
            }
        }
        Ok(made)
    }

    fn in_job(
        &self,
        slot: Slot,
        spec: &LaunchSpec,
        job: &Job,
    ) -> Result<LaunchRecord, LaunchError> {
        if interrupt::requested() {
            return Err(LaunchError::Interrupted);
        }
        let (prepared, configuration) = (&self.slots[slot.0], self.configuration);
        match &spec.until {
            Until::Exit => exit::until_exit(prepared, spec, configuration, job),
            Until::Entry => entry::until_entry(prepared, spec, configuration, job),
            _ => ready::until_ready(prepared, spec, configuration, job),
        }
    }
}
