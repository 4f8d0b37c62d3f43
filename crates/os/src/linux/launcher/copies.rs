//! Copies of a program that are launched together and held still, so that others can look at them.
//!
//! The first process of each copy is traced, with the fewest events: a program that is about to end
//! is held where it still has its memory. What copies have started is not traced, only stopped.
//! Whatever happens to headstart, the launcher ends all of them with itself.

use super::alarm::Alarm;
use super::entry;
use super::idle::Quiet;
use super::leave::told_to_leave;
use super::still;
use super::wire::{Order, Reply};
use super::{LOOK_UP_OFTEN_MS, Launcher, ReadyCondition, Slot, Unwatched, WATCHDOG_MARGIN};
use crate::linux::LaunchError;
use crate::linux::processes;
use crate::linux::spawn::{Child, Prepared, Setup};
use crate::linux::trace::{arch, ptrace, tracer};
use crate::stdio::Stdio;
use model::{Ending, MappedVa, SharingState, Until};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// EXITKILL: the program does not outlive the launcher.
pub(super) const OPTIONS: libc::c_int =
    libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACEEXIT;
/// How often copies are looked at.
const LOOK: Duration = Duration::from_millis(2);
/// How long it may take to end what is left.
const END: Duration = Duration::from_secs(5);

/// When copies have started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CopiesUntil {
    /// They have waited for something, such as input, for this long; or they are about to end.
    Idle(Duration),
    /// As for a measured launch; `Exit` is when they are about to end.
    Launch(Until),
}

/// How copies are launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiesRequest {
    /// How many.
    pub count: u32,
    /// When they have started.
    pub until: CopiesUntil,
    /// They are held as they are then.
    pub timeout: Duration,
    /// How long they may take to end after SIGTERM before SIGKILL.
    pub grace: Duration,
}

/// A process that is held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldProcess {
    /// Its number.
    pub pid: u32,
    /// The copy that it belongs to, from 1; nothing where its parents have ended.
    pub copy: Option<u32>,
    /// What it was doing.
    pub state: SharingState,
    /// Whether it stands still: a process that cannot be stopped goes on.
    pub still: bool,
    /// How it is about to end, where it is.
    pub ending: Option<Ending>,
}

/// What became of the copies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// All processes, copy by copy, the first process of each copy first.
    pub processes: Vec<HeldProcess>,
    /// Copies that ended so suddenly that they could not be held, from 1.
    pub lost: Vec<(u32, Ending)>,
}

impl Launcher {
    /// Launches copies of a prepared command, waits until they have started and holds them. From
    /// then on nothing but [`Launcher::release`] may be asked for.
    pub(in crate::linux) fn hold(
        &mut self,
        slot: Slot,
        request: &CopiesRequest,
    ) -> Result<Held, LaunchError> {
        let limit = request.timeout.saturating_add(WATCHDOG_MARGIN * 2);
        // Each copy may stop the launcher, and nothing is timed.
        self.look_up_ms = LOOK_UP_OFTEN_MS;
        let order = Order::Hold { slot: slot.0, request: request.clone() };
        match self.ask(&order, &[], Some(limit), &mut Unwatched)? {
            Reply::Held(held) => Ok(held),
            _ => Err(LaunchError::LauncherGone),
        }
    }

    /// Ends the copies and whatever they have started.
    pub(in crate::linux) fn release(&mut self) -> Result<(), LaunchError> {
        self.ask(&Order::Release, &[], None, &mut Unwatched).map(|_| ())
    }
}

/// One copy.
pub(super) struct CopyOfProgram {
    pub(super) child: Child,
    condition: Option<ReadyCondition>,
    quiet: Quiet,
    /// It has executed its program.
    begun: bool,
    breakpoint: Option<MappedVa>,
    pub(super) ready: bool,
    /// It is stopped by ptrace and stays so.
    pub(super) held: bool,
    /// It is at its end, with its memory.
    pub(super) at_end: Option<Ending>,
    /// It could not be held.
    pub(super) lost: Option<Ending>,
}

impl CopyOfProgram {
    /// Whether nothing is waited for any more.
    fn is_over(&self) -> bool {
        self.ready || self.held || self.lost.is_some()
    }

    fn may_be_looked_at(&self) -> bool {
        self.begun && !self.held && self.lost.is_none()
    }

    fn state(&self) -> SharingState {
        match self {
            CopyOfProgram { at_end: Some(_), .. } => SharingState::Ending,
            CopyOfProgram { ready: true, condition: None, breakpoint: None, .. } => {
                SharingState::Idle
            }
            CopyOfProgram { ready: true, .. } => SharingState::Ready,
            CopyOfProgram { held: true, .. } => SharingState::Stopped,
            _ => SharingState::Busy,
        }
    }
}

/// All copies of one program.
pub(super) struct HeldCopies {
    pub(super) copies: Vec<CopyOfProgram>,
    request: CopiesRequest,
}

impl HeldCopies {
    /// Launches the copies and holds them when they have started.
    pub(super) fn start(
        prepared: &Prepared,
        stdio: &Stdio,
        request: CopiesRequest,
    ) -> Result<(HeldCopies, Held), LaunchError> {
        let mut held = HeldCopies { copies: Vec::new(), request };
        held.launch(prepared, stdio)?;
        let found = held.hold();
        Ok((held, found))
    }

    fn launch(&mut self, prepared: &Prepared, stdio: &Stdio) -> Result<(), LaunchError> {
        let until = match &self.request.until {
            CopiesUntil::Launch(until) => until.clone(),
            CopiesUntil::Idle(_) => Until::Exit,
        };
        // Before the first one makes true what is waited for.
        let conditions = (0..self.request.count).map(|_| ReadyCondition::new(&until));
        for mut condition in conditions.collect::<Result<Vec<_>, _>>()? {
            let stdio = match &mut condition {
                Some(condition) => condition.watched(stdio.clone()),
                None => stdio.clone(),
            };
            let child = tracer::start(prepared, Setup::with_stdio(&stdio))?;
            self.copies.push(CopyOfProgram {
                child,
                condition,
                quiet: Quiet::default(),
                begun: false,
                breakpoint: None,
                ready: false,
                held: false,
                at_end: None,
                lost: None,
            });
        }
        let alarm = Alarm::set(self.request.timeout);
        while !self.copies.iter().all(CopyOfProgram::is_over) {
            self.take_events(until == Until::Entry)?;
            if alarm.is_over() || told_to_leave() {
                break;
            }
            self.look();
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Handles whatever has happened to the traced processes.
    pub(super) fn take_events(&mut self, to_entry: bool) -> Result<(), LaunchError> {
        while let Some((pid, status)) = still::next_event() {
            let Some(copy) = self.copies.iter_mut().find(|copy| copy.child.pid == pid) else {
                // A process that a copy has left behind.
                continue;
            };
            copy.take(status, to_entry)?;
        }
        Ok(())
    }

    /// Looks whether copies have started.
    fn look(&mut self) {
        let settle = match self.request.until {
            CopiesUntil::Idle(settle) => Some(settle),
            CopiesUntil::Launch(_) => None,
        };
        for copy in self.copies.iter_mut().filter(|copy| copy.may_be_looked_at()) {
            if let Some(settle) = settle {
                copy.ready = copy.quiet.look(copy.child.pid, settle);
            } else if let Some(condition) = &mut copy.condition {
                // Looked at also when it has held: its pipe must not fill up.
                copy.ready |= condition.holds();
            }
        }
    }

    /// Stops everything and lists it.
    fn hold(&mut self) -> Held {
        let states: Vec<SharingState> = self.copies.iter().map(CopyOfProgram::state).collect();
        still::stop_copies(self);
        let mut found = Held::default();
        let mut known: Vec<libc::pid_t> = self.copies.iter().map(|copy| copy.child.pid).collect();
        let mut add = |pid: libc::pid_t, copy, state, still, ending| {
            let pid = pid.cast_unsigned();
            found.processes.push(HeldProcess { pid, copy, state, still, ending });
        };
        let children = still::stop_children(&known);
        for ((number, copy), mut state) in (1..).zip(&self.copies).zip(states) {
            if copy.lost.is_some() {
                continue;
            }
            if copy.at_end.is_some() {
                state = SharingState::Ending;
            }
            add(copy.child.pid, Some(number), state, copy.held, copy.at_end);
            for pid in processes::descendants(copy.child.pid) {
                if let Some((_, still)) = children.iter().find(|(child, _)| *child == pid) {
                    known.push(pid);
                    add(pid, Some(number), SharingState::Child, *still, None);
                }
            }
        }
        for (pid, still) in children.iter().filter(|(pid, _)| !known.contains(pid)) {
            add(*pid, None, SharingState::Child, *still, None);
        }
        let lost = (1..).zip(&self.copies).filter_map(|(number, copy)| Some((number, copy.lost?)));
        found.lost = lost.collect();
        found
    }

    /// Ends everything: asked to first, as far as it has begun.
    pub(super) fn end(self) {
        if self.request.until != CopiesUntil::Launch(Until::Entry) {
            for copy in self.copies.iter().filter(|copy| copy.lost.is_none()) {
                let pid = copy.child.pid;
                match copy.at_end.is_some() {
                    true => ptrace::resume(pid, ptrace::Resume::Continue(0)),
                    false => {
                        still::detach(pid);
                        processes::signal(pid, Signal::TERM);
                    }
                }
            }
            let own = processes::own_pid();
            processes::signal_descendants(own, Signal::TERM);
            processes::signal_descendants(own, Signal::CONT);
            still::await_end(self.request.grace, || {});
        }
        // The rest when this is dropped.
    }
}

impl Drop for HeldCopies {
    fn drop(&mut self) {
        still::await_end(END, || {
            processes::kill_descendants(processes::own_pid());
        });
    }
}

impl CopyOfProgram {
    /// What becomes of the copy after something has happened to it.
    fn take(&mut self, status: libc::c_int, to_entry: bool) -> Result<(), LaunchError> {
        let pid = self.child.pid;
        if !libc::WIFSTOPPED(status) {
            self.lost = Some(ptrace::ending(status));
            return Ok(());
        }
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        let is_exec = event == libc::PTRACE_EVENT_EXEC || !std::mem::replace(&mut self.begun, true);
        if event == libc::PTRACE_EVENT_EXIT {
            // The status that waitpid will report, unless it cannot be read.
            let status = ptrace::event_message(pid).unwrap_or(0);
            (self.held, self.at_end) = (true, Some(ptrace::ending(status as i32)));
        } else if is_exec {
            let entry = entry::begin_copy(&self.child, OPTIONS, to_entry)?;
            // What was ready before it executes another program stays so.
            self.breakpoint = entry.breakpoint;
            self.ready |= entry.reached;
            self.held = entry.reached;
            if !self.held {
                ptrace::resume(pid, ptrace::Resume::Continue(0));
            }
        } else if signal == libc::SIGTRAP
            && self.breakpoint.is_some()
            && arch::breakpoint_address(pid).is_ok_and(|hit| Some(hit) == self.breakpoint)
        {
            (self.held, self.ready) = (true, true);
        } else if still::is_stop(signal) && ptrace::in_group_stop(pid) {
            self.held = true;
        } else {
            ptrace::resume(pid, ptrace::Resume::Continue(signal));
        }
        Ok(())
    }
}
