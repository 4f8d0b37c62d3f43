//! Launches under the debug API, which reports every process, thread and DLL.
//!
//! A process is stopped at each of these events. A breakpoint at the entry point of the program and of each DLL,
//! removed when it is first hit, shows when initializers run and when they have ended. From the program's entry
//! point on, no breakpoint is set, so the program's own code runs as it does without a debugger.

mod breakpoints;
mod context;
mod debuggee;
mod events;
mod names;

use super::child::Child;
use super::job::Job;
use super::prepared::Prepared;
use super::ready::ReadyCondition;
use super::waiting::{Deadline, Waited, deadline, wait};
use super::{Configuration, LaunchSpec};
use crate::windows::clock::Instant;
use crate::windows::{LaunchError, interrupt};
use debuggee::{Debuggee, Reached};
use events::{Event, EventKind, next, proceed};
use model::{DebugStop, DebuggedLaunch, DebuggedProcess, Ending, Until};
use std::time::Duration;
use windows_sys::Win32::System::Threading::DEBUG_PROCESS;

/// How often the time limit and the user's wish to stop are checked.
const LOOK_UP_MS: u32 = 20;
/// How often it is checked whether the program is ready.
const PROBE_MS: u32 = 1;
/// How long the processes of a finished launch may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// Launches the program, records until the launch is complete, and ends what it has left running.
pub(super) fn launch(
    prepared: &Prepared,
    spec: &LaunchSpec,
    configuration: Configuration,
) -> Result<DebuggedLaunch, LaunchError> {
    let job = Job::new()?;
    let mut condition = ReadyCondition::new(&spec.until)?;
    let mut streams = prepared.streams.clone();
    if let Some(condition) = &mut condition {
        streams = condition.watched(streams);
    }
    let stdio = streams.inheritable()?;
    // headstart itself stays on other CPUs: to the program's it would have to be switched at each stop.
    let deadline = deadline(spec.timeout);
    let mut child = Child::create(prepared, &stdio, &job, configuration, DEBUG_PROCESS)?;
    drop((stdio, streams));
    child.resume()?;
    let mut session =
        Session { child: &child, job: &job, processes: Vec::new(), stops: Vec::new() };
    let complete = session.follow(condition, spec.until == Until::Entry, deadline);
    session.end()?;
    let (total_us, ending) = complete?;
    let (processes, stops) = (session.processes, session.stops);
    let processes = processes.into_iter().map(names::with_paths).collect();
    Ok(DebuggedLaunch { total_us, ending, processes, stops })
}

/// A launch that is recorded.
struct Session<'a> {
    child: &'a Child,
    job: &'a Job,
    processes: Vec<Debuggee>,
    stops: Vec<DebugStop>,
}

/// When a launch was complete, and how.
type Complete = (f64, Ending);

impl Session<'_> {
    /// Records until the launch is complete.
    fn follow(
        &mut self,
        mut condition: Option<ReadyCondition>,
        to_entry: bool,
        deadline: Deadline,
    ) -> Result<Complete, LaunchError> {
        let ms = if condition.is_some() { PROBE_MS } else { LOOK_UP_MS };
        let mut ended = None;
        loop {
            if interrupt::requested() {
                return Err(LaunchError::Interrupted);
            }
            if let Some(at_us) = condition.as_mut().and_then(|it| it.ready_us(self.child)) {
                return Ok((at_us, Ending::Ready));
            }
            if deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline) {
                return Ok((self.child.now_us(), Ending::TimedOut));
            }
            if let Some(event) = next(ms)? {
                let (pid, is_entry) = (event.pid, self.record(event)?);
                if to_entry && is_entry && pid == self.child.pid {
                    return Ok((self.child.now_us(), Ending::Ready));
                }
            }
            if ended.is_none() && self.has_ended() {
                ended = Some(self.ending()?);
            }
            match (ended, &mut condition) {
                (Some(ended), None) => return Ok(ended),
                // A program that leaves processes running has become a server.
                (Some((_, Ending::Code(0))), Some(_)) if self.job.has_others(self.child.pid) => {}
                (Some(ended), Some(condition)) => {
                    condition.hear_out(super::ready::LAST_WORDS);
                    let ready = condition.ready_us(self.child);
                    return Ok(ready.map_or(ended, |at_us| (at_us, Ending::Ready)));
                }
                (None, _) => {}
            }
        }
    }

    /// Records an event and lets the process continue; returns whether it has reached its entry point.
    fn record(&mut self, event: Event) -> Result<bool, LaunchError> {
        let at = Instant::now();
        let at_us = at.us_since(self.child.started);
        let Event { pid, thread, kind } = event;
        let mut answer = Answer::HANDLED;
        match (kind, self.processes.iter_mut().rfind(|it| it.record.pid == pid)) {
            (EventKind::Begun { process, thread: handle, base, file }, _) => {
                let record = DebuggedProcess {
                    argv: names::arguments(process),
                    directory: names::directory(process),
                    ..self.begun(pid, names::parent(process), base, at_us)
                };
                self.processes.push(Debuggee::new(record, process, (thread, handle), file));
            }
            (kind, Some(debuggee)) => answer = answered(debuggee, kind, thread, at_us)?,
            (_, None) => {}
        }
        self.stops.push(DebugStop { pid, at_us, held_us: Instant::now().us_since(at) });
        proceed(pid, thread, answer.handled)?;
        Ok(answer.is_entry)
    }

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

    /// Whether the launched process has ended, as far as its events say.
    fn has_ended(&self) -> bool {
        self.processes.first().is_some_and(|process| process.record.exit_code.is_some())
    }

    /// Waits until the launched process is gone, after its last event.
    fn ending(&self) -> Result<Complete, LaunchError> {
        match wait(&[self.child.process()], deadline(GONE_WITHIN))? {
            Waited::For(_) => Ok((self.child.now_us(), self.child.ending()?)),
            Waited::TimedOut => Ok((self.child.now_us(), Ending::TimedOut)),
        }
    }

    /// Ends everything that still runs. Events are continued meanwhile: no process is gone before its last one.
    fn end(&mut self) -> Result<(), LaunchError> {
        self.job.terminate();
        let over = std::time::Instant::now() + GONE_WITHIN;
        while self.job.has_processes() && std::time::Instant::now() < over {
            if let Some(event) = next(LOOK_UP_MS)? {
                proceed(event.pid, event.thread, !matches!(event.kind, EventKind::Exception))?;
            }
        }
        self.job.end_everything(self.child.pid).map(drop)
    }
}

/// How an event was taken.
struct Answer {
    /// An exception is not passed on to the program.
    handled: bool,
    is_entry: bool,
}

impl Answer {
    const HANDLED: Answer = Answer { handled: true, is_entry: false };
}

/// Records an event of a process.
fn answered(
    debuggee: &mut Debuggee,
    kind: EventKind,
    thread: u32,
    at_us: f64,
) -> Result<Answer, LaunchError> {
    let failed = LaunchError::failed(
        "a breakpoint could not be set or removed",
        "make sure that no other debugger is attached to the program",
    );
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
            let reached = debuggee.reached(at, thread, at_us).map_err(failed)?;
            let (handled, is_entry) = (reached != Reached::Own, reached == Reached::Entry);
            answer = Answer { handled, is_entry };
        }
        EventKind::Stepped => answer.handled = debuggee.stepped(thread).map_err(failed)?,
        EventKind::Breakpoint32 => answer.handled = debuggee.reached32(),
        EventKind::Exception => answer.handled = false,
        EventKind::Ended { code } => {
            debuggee.record.exiting_us = Some(at_us);
            debuggee.record.exit_code = Some(code);
        }
        EventKind::Begun { .. } | EventKind::Other => {}
    }
    Ok(answer)
}
