//! The thread that traces a launch, and the wait for it.
//!
//! ptrace ties tracees to one thread, they end with it (PTRACE_O_EXITKILL), and pinning must not
//! outlive the launch: each traced launch has a thread of its own, and whoever asked for it keeps
//! the time meanwhile.

use super::permitted;
use crate::functions::Over;
use crate::linux::error::LaunchError;
use crate::linux::launcher::ReadyCondition;
use crate::linux::spawn::{Child, Prepared, Setup, spawn};
use crate::linux::{host, interrupt};
use model::Ending;
use rustix::process::{Signal, pidfd_send_signal};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often the wait looks up for an interrupt.
const LOOK_UP: Duration = Duration::from_millis(100);
/// How often a launch is looked at that is complete when something holds.
const PROBE_INTERVAL: Duration = Duration::from_millis(1);

/// Where a launch is traced, and for how long.
#[derive(Clone, Copy)]
pub(in crate::linux) struct Limits {
    /// CPU for tracer and tracees.
    pub cpu: Option<u32>,
    /// A launch that takes longer gets SIGTERM,
    pub timeout: Duration,
    /// and this much later SIGKILL.
    pub grace: Duration,
}

/// What becomes of a launch when the user wants to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) enum OnInterrupt {
    /// It is killed at once, and its result dropped.
    Drop,
    /// It is ended as if headstart were not there, and its result kept.
    Keep,
}

/// What a session made of a launch, and how the launched process ended.
type Outcome<T> = Result<(T, Ending), LaunchError>;

/// Starts the launch of one session.
pub(in crate::linux) struct Tracer(Sender<Arc<Child>>);

impl Tracer {
    /// [`start`]; from then on the launch can be ended from outside.
    pub(in crate::linux) fn start(
        self,
        prepared: &Prepared,
        setup: Setup<'_>,
    ) -> Result<Arc<Child>, LaunchError> {
        let child = Arc::new(start(prepared, setup)?);
        // The receiver outlives this thread.
        let _ = self.0.send(Arc::clone(&child));
        Ok(child)
    }
}

/// Starts `prepared` as a tracee of the calling thread; it waits in the stop that follows its
/// execve.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where ptrace or seccomp filters are refused; otherwise what any
/// launch meets.
pub(in crate::linux) fn start(prepared: &Prepared, setup: Setup<'_>) -> Result<Child, LaunchError> {
    spawn(prepared, Setup { trace_me: true, ..setup }).map_err(|error| match error {
        LaunchError::NotPermitted { .. } => permitted().err().unwrap_or(error),
        error => error,
    })
}

/// Runs `session` on a tracer's thread and waits for its result. It starts one launch and follows
/// it to its end. The ending is [`Ending::TimedOut`] where the launch was ended from here.
///
/// # Errors
/// Those of `session`; [`LaunchError::Interrupted`] where the user wanted to stop: the launch is
/// then killed at once.
pub(in crate::linux) fn trace<T: Send>(
    limits: Limits,
    session: impl FnOnce(Tracer) -> Outcome<T> + Send,
) -> Outcome<T> {
    trace_until(limits, OnInterrupt::Drop, &Over::default(), None, session)
}

/// [`trace`] of a launch that is ended when it is `over`, or where `condition` holds.
pub(in crate::linux) fn trace_until<T: Send>(
    limits: Limits,
    on_interrupt: OnInterrupt,
    over: &Over,
    condition: Option<ReadyCondition>,
    session: impl FnOnce(Tracer) -> Outcome<T> + Send,
) -> Outcome<T> {
    let (started, on_start) = channel();
    let (done, on_done) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let result = pin(limits.cpu).and_then(|()| session(Tracer(started)));
            // The receiver waits for this message, so it cannot be gone.
            let _ = done.send(result);
        });
        let child = None;
        Wait { on_start, on_done, child, limits, on_interrupt, over, condition }.end()
    })
}

/// One CPU for tracer and tracees makes stops several times cheaper.
fn pin(cpu: Option<u32>) -> Result<(), LaunchError> {
    cpu.map_or(Ok(()), |cpu| host::pin(&[cpu])).map_err(LaunchError::failed(
        "running the tracer on one CPU",
        "choose a CPU that taskset -cp $$ lists",
    ))
}

/// The wait for a tracer's thread.
struct Wait<'a, T> {
    on_start: Receiver<Arc<Child>>,
    on_done: Receiver<Outcome<T>>,
    child: Option<Arc<Child>>,
    limits: Limits,
    on_interrupt: OnInterrupt,
    over: &'a Over,
    condition: Option<ReadyCondition>,
}

/// What a wait ended with.
enum Waited<T> {
    /// The launch has ended.
    Ended(Outcome<T>),
    /// The launch takes longer, or is complete.
    Enough,
    /// The user wants to stop.
    Interrupted,
}

impl<T> Wait<'_, T> {
    /// Waits for the end of the launch, and brings it about when the time is up.
    fn end(mut self) -> Outcome<T> {
        match self.within(self.limits.timeout, true) {
            Waited::Ended(outcome) => {
                // Its last words may be the ones waited for.
                self.is_complete();
                outcome
            }
            Waited::Interrupted => self.interrupt(),
            Waited::Enough => {
                let complete = self.over.is_over();
                let ended = self.end_by(Some(Signal::TERM));
                let timed_out = |(result, _)| (result, Ending::TimedOut);
                if complete { ended } else { ended.map(timed_out) }
            }
        }
    }

    /// The user wants to stop.
    fn interrupt(&mut self) -> Outcome<T> {
        match self.on_interrupt {
            OnInterrupt::Drop => self.kill().and(Err(LaunchError::Interrupted)),
            OnInterrupt::Keep => self.end_by(interrupt::signal_to_pass_on()),
        }
    }

    /// The outcome of a launch that gets `signal`, and SIGKILL if it goes on.
    fn end_by(&mut self, signal: Option<Signal>) -> Outcome<T> {
        signal.into_iter().for_each(|signal| self.signal(signal));
        match self.within(self.limits.grace, false) {
            Waited::Ended(outcome) => outcome,
            Waited::Interrupted => self.interrupt(),
            Waited::Enough => self.kill(),
        }
    }

    /// Waits for at most `limit`; `heed` is whether it matters meanwhile that the launch is
    /// complete, or that the user wants to stop.
    fn within(&mut self, limit: Duration, heed: bool) -> Waited<T> {
        let began = Instant::now();
        let pause = if self.condition.is_some() { PROBE_INTERVAL } else { LOOK_UP };
        loop {
            let left = limit.saturating_sub(began.elapsed());
            let may_go_on = !heed && self.on_interrupt == OnInterrupt::Keep;
            match self.on_done.recv_timeout(left.min(pause)) {
                Ok(outcome) => return Waited::Ended(outcome),
                Err(RecvTimeoutError::Disconnected) => {
                    return Waited::Ended(Err(LaunchError::LauncherGone));
                }
                Err(RecvTimeoutError::Timeout) if interrupt::requested() && !may_go_on => {
                    return Waited::Interrupted;
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Waited::Enough,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.is_complete() && heed {
                return Waited::Enough;
            }
        }
    }

    /// Whether the launch is complete. Also takes what a watched program prints, so that it is not
    /// blocked.
    fn is_complete(&mut self) -> bool {
        if self.condition.as_mut().is_some_and(ReadyCondition::holds) {
            self.over.set();
        }
        self.over.is_over()
    }

    /// Kills the launched process and waits for the outcome.
    fn kill(&mut self) -> Outcome<T> {
        self.signal(Signal::KILL);
        self.on_done.recv().unwrap_or(Err(LaunchError::LauncherGone))
    }

    /// Sends `signal` to the launched process once it has started; what it has started itself is
    /// its own to end, and else the session's.
    fn signal(&mut self, signal: Signal) {
        if self.child.is_none() {
            // An error where the launch could not be started: the outcome tells.
            self.child = self.on_start.recv().ok();
        }
        if let Some(child) = &self.child {
            // A process that has ended meanwhile is an error that we do not need.
            let _ = pidfd_send_signal(&child.pidfd, signal);
        }
    }
}
