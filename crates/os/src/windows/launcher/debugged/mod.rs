//! Launches that are explained: every process and DLL, and when initializers run.
//!
//! A breakpoint at the entry point of the program and of each DLL, removed when it is first hit, shows when initializers
//! run and when they have ended. From the program's entry point on, no breakpoint is set, so the program's own code runs
//! as it does without a debugger.

mod breakpoints;
mod debuggee;

use super::prepared::Prepared;
use super::{Configuration, LaunchSpec};
use crate::windows::LaunchError;
use crate::windows::clock::Instant;
use crate::windows::debug::events::{Event, EventKind};
use crate::windows::debug::{self, Answer, Moment, Watcher, names};
use debuggee::{Debuggee, Reached};
use model::{DebugStop, DebuggedLaunch, DebuggedProcess, Until};

/// Launches the program, records until the launch is complete, and ends what it has left running.
pub(super) fn launch(
    prepared: &Prepared,
    spec: &LaunchSpec,
    configuration: Configuration,
) -> Result<DebuggedLaunch, LaunchError> {
    let mut record =
        Record { to_entry: spec.until == Until::Entry, processes: Vec::new(), stops: Vec::new() };
    let (total_us, ending) =
        debug::launch(prepared, &spec.until, spec.timeout, configuration, &mut record)?;
    let processes = record.processes.into_iter().map(Debuggee::into_record).collect();
    Ok(DebuggedLaunch { total_us, ending, processes, stops: record.stops })
}

/// A launch that is recorded.
struct Record {
    /// It is complete where the launched process reaches its entry point.
    to_entry: bool,
    /// The launched one is the first.
    processes: Vec<Debuggee>,
    stops: Vec<DebugStop>,
}

impl Watcher for Record {
    fn on_event(&mut self, event: Event, moment: Moment) -> Result<Answer, LaunchError> {
        let (Event { pid, thread, kind }, Moment { at, at_us }) = (event, moment);
        let mut answer = Answer::HANDLED;
        match (kind, self.processes.iter().rposition(|it| it.record.pid == pid)) {
            (EventKind::Begun { process, thread: handle, base, file }, _) => {
                let record = DebuggedProcess {
                    argv: names::arguments(process),
                    directory: names::directory(process),
                    ..self.begun(pid, names::parent(process), base, at_us)
                };
                self.processes.push(Debuggee::new(record, process, (thread, handle), file));
            }
            (kind, Some(index)) => {
                let to_entry = self.to_entry && index == 0;
                answer = answered(&mut self.processes[index], kind, thread, at_us, to_entry);
            }
            // One that could not be created at first.
            (_, None) => return Ok(answer),
        }
        self.stops.push(DebugStop { pid, at_us, held_us: Instant::now().us_since(at) });
        Ok(answer)
    }
}

impl Record {
    /// A process that begins.
    fn begun(&self, pid: u32, parent: Option<u32>, base: usize, at_us: f64) -> DebuggedProcess {
        let parent = self.processes.iter().rposition(|it| Some(it.record.pid) == parent);
        DebuggedProcess {
            pid,
            parent,
            path: String::new(),
            argv: Vec::new(),
            directory: None,
            base: base as u64,
            started_us: at_us,
            initializing_us: None,
            entry_us: None,
            exiting_us: None,
            exit_code: None,
            dlls: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Records an event of a process; the launch is complete at its entry point if `to_entry`.
fn answered(
    debuggee: &mut Debuggee,
    kind: EventKind,
    thread: u32,
    at_us: f64,
    to_entry: bool,
) -> Answer {
    let mut answer = Answer::HANDLED;
    match kind {
        EventKind::ThreadBegun { thread: handle } => {
            debuggee.threads.insert(thread, handle);
        }
        EventKind::ThreadEnded => {
            debuggee.threads.remove(&thread);
        }
        EventKind::Loaded { base, file } => debuggee.loaded(base, file, at_us),
        EventKind::Unloaded { base } => debuggee.unloaded(base),
        EventKind::Breakpoint { at } => {
            // Of a process that is being ended, memory and threads are out of reach already. If another one went on
            // wrongly, it would end otherwise than without a debugger, and would not be explained.
            let reached = debuggee.reached(at, thread, at_us).unwrap_or(Reached::Known);
            answer.handled = reached != Reached::Own;
            answer.completes = to_entry && reached == Reached::Entry;
        }
        EventKind::Stepped => answer.handled = debuggee.stepped(thread).unwrap_or(true),
        EventKind::Breakpoint32 => answer.handled = debuggee.loader.is_it32(),
        EventKind::Exception => answer.handled = false,
        EventKind::Ended { code } => {
            debuggee.record.exiting_us = Some(at_us);
            debuggee.record.exit_code = Some(code);
        }
        EventKind::Begun { .. } | EventKind::BadHandle | EventKind::Other => {}
    }
    answer
}
