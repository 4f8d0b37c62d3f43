//! Launches under the debug API, which reports every process, thread, DLL and exception, one at a time, while the
//! process is stopped.

pub(super) mod context;
pub(super) mod events;
pub(super) mod loader_stops;
pub(super) mod names;
pub(super) mod wine_exceptions;

use super::clock::Instant;
use super::launcher::Configuration;
use super::launcher::child::Child;
use super::launcher::job::Job;
use super::launcher::prepared::Prepared;
use super::launcher::ready::{LAST_WORDS, ReadyCondition};
use super::launcher::waiting::{Deadline, Waited, deadline, wait};
use super::{LaunchError, interrupt};
use events::{Event, EventKind, next, proceed};
use model::{Ending, Until};
use std::time::Duration;
use windows_sys::Win32::System::Threading::DEBUG_PROCESS;

/// How often the time limit and the user's wish to stop are checked.
const LOOK_UP_MS: u32 = 20;
/// How often it is checked whether the program is ready.
const PROBE_MS: u32 = 1;
/// How long the processes of a finished launch may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// Takes the events of a launch.
pub(super) trait Watcher {
    /// An event, while its process is stopped.
    ///
    /// # Errors
    /// The launch cannot be followed further.
    fn on_event(&mut self, event: Event, moment: Moment) -> Result<Answer, LaunchError>;
}

/// When an event came.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) at: Instant,
    /// Since before the launched process was created.
    pub(super) at_us: f64,
}

/// How an event was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// An exception is not passed on to the program.
    pub(super) handled: bool,
    /// The launch is complete with it.
    pub(super) completes: bool,
}

impl Answer {
    pub(super) const HANDLED: Answer = Answer { handled: true, completes: false };
    pub(super) const PASSED_ON: Answer = Answer { handled: false, completes: false };
}

/// When a launch was complete, in microseconds since before its creation, and how.
pub(super) type Complete = (f64, Ending);

/// Launches the program, which is complete as `until` says or where the watcher does, and ends what it has left
/// running.
///
/// # Errors
/// It cannot be started or debugged, or the user wants to stop.
pub(super) fn launch(
    prepared: &Prepared,
    until: &Until,
    timeout: Duration,
    configuration: Configuration,
    watcher: &mut dyn Watcher,
) -> Result<Complete, LaunchError> {
    let job = Job::new()?;
    let mut condition = ReadyCondition::new(until)?;
    let mut streams = prepared.streams.clone();
    if let Some(condition) = &mut condition {
        streams = condition.watched(streams);
    }
    let stdio = streams.inheritable()?;
    // headstart itself stays on other CPUs: to the program's it would have to be switched at each stop.
    let deadline = deadline(timeout);
    let mut child = Child::create(prepared, &stdio, &job, configuration, DEBUG_PROCESS)?;
    drop((stdio, streams));
    child.resume()?;
    let mut session = Session { child: &child, job: &job, has_ended: false };
    let complete = session.follow(watcher, condition, deadline);
    session.end()?;
    complete
}

/// A launch that is followed.
struct Session<'a> {
    child: &'a Child,
    job: &'a Job,
    /// The launched process has ended, as far as its events say.
    has_ended: bool,
}

impl Session<'_> {
    /// Takes events until the launch is complete.
    fn follow(
        &mut self,
        watcher: &mut dyn Watcher,
        mut condition: Option<ReadyCondition>,
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
            if let Some(event) = next(ms)?
                && self.take(event, watcher)?
            {
                return Ok((self.child.now_us(), Ending::Ready));
            }
            if ended.is_none() && self.has_ended {
                ended = Some(self.ending()?);
            }
            match (ended, &mut condition) {
                (Some(ended), None) => return Ok(ended),
                // A program that leaves processes running has become a server.
                (Some((_, Ending::Code(0))), Some(_)) if self.job.has_others(self.child.pid) => {}
                (Some(ended), Some(condition)) => {
                    condition.hear_out(LAST_WORDS);
                    let ready = condition.ready_us(self.child);
                    return Ok(ready.map_or(ended, |at_us| (at_us, Ending::Ready)));
                }
                (None, _) => {}
            }
        }
    }

    /// Hands an event to the watcher and lets the process continue; whether the launch is complete.
    fn take(&mut self, event: Event, watcher: &mut dyn Watcher) -> Result<bool, LaunchError> {
        let at = Instant::now();
        let moment = Moment { at, at_us: at.us_since(self.child.started) };
        let (pid, thread) = (event.pid, event.thread);
        self.has_ended |= pid == self.child.pid && matches!(event.kind, EventKind::Ended { .. });
        let answer = watcher.on_event(event, moment)?;
        proceed(pid, thread, answer.handled)?;
        Ok(answer.completes)
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
