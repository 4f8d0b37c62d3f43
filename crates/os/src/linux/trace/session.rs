//! The event loop of a traced launch: which threads there are and how each goes on.

use super::arch;
use super::breakpoints::{self, Space};
use super::files::{self, Pending};
use super::filter::Reason;
use super::functions::{FunctionRecording, Hold, TrapState};
use super::lives::Process;
use super::ptrace::{self, Resume, Tid};
use super::waits::{RecordedWait, Waiting};
use super::{LoaderVariables, TraceRequest, TracedLaunch};
use crate::linux::LaunchError;
use crate::linux::clock::Instant;
use crate::linux::spawn::Child;
use model::{Ending, FileCall, ImagePages, MappedVa, Reading, ThreadLife};
use std::collections::HashMap;
use std::io;

const PTRACE_EVENT_STOP: i32 = 128;
const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;

/// A traced thread.
pub(super) struct Task {
    /// Index of its process.
    pub process: usize,
    /// Index of its address space.
    pub space: usize,
    /// Its first stop is still to come; these bytes must then be put back in its own copy of
    /// the memory.
    pub born: Option<Vec<(MappedVa, u8)>>,
    /// It executes the one instruction at this address from which a breakpoint was lifted.
    pub stepping: Option<MappedVa>,
    pub call: Option<Pending>,
    pub waiting: Waiting,
    pub started_us: f64,
    /// The leading thread has ended before others of its process.
    pub gone_us: Option<f64>,
    pub exec_called: Option<f64>,
    /// What a recording knows of SIGTRAP.
    pub trap: TrapState,
    /// Another process of a recorded launch traces it.
    pub hold: Option<Hold>,
}

/// Time that the tracer takes while the launch stands still.
#[derive(Default)]
struct Tracing {
    total_us: f64,
    /// Set while a stop is handled.
    since: Option<Instant>,
}

impl Tracing {
    fn go_on(&mut self) {
        if let Some(since) = self.since.take() {
            self.total_us += Instant::now().us_since(since);
        }
    }
}

/// One traced launch.
pub(super) struct Session<'a> {
    pub request: &'a TraceRequest,
    /// The filter stops where musl maps libraries.
    pub maps_are_seen: bool,
    started: Instant,
    /// The tracer's own time so far, kept out of every mark.
    tracing: Tracing,
    pub root: Tid,
    pub tasks: HashMap<Tid, Task>,
    /// First stops of threads whose birth has not been reported yet.
    pub early: HashMap<Tid, i32>,
    pub processes: Vec<Process>,
    pub spaces: Vec<Space>,
    pub cpuids: Vec<(String, u64)>,
    pub file_calls: Vec<FileCall>,
    pub waits: Vec<RecordedWait>,
    pub threads: Vec<ThreadLife>,
    pub variables: Vec<LoaderVariables>,
    pub stops: u32,
    /// What the launched process had in memory of its file at its end.
    pub pages: Option<Reading<ImagePages>>,
    /// The functions that are called, where they are recorded.
    pub recording: Option<FunctionRecording>,
}

impl<'a> Session<'a> {
    /// Begins with `child`, which waits in the stop that follows its execve.
    pub fn new(request: &'a TraceRequest, child: &Child, maps_are_seen: bool) -> Self {
        let mut session = Session {
            request,
            maps_are_seen,
            started: child.started,
            tracing: Tracing::default(),
            root: child.pid,
            tasks: HashMap::new(),
            early: HashMap::new(),
            processes: Vec::new(),
            spaces: Vec::new(),
            cpuids: Vec::new(),
            file_calls: Vec::new(),
            waits: Vec::new(),
            threads: Vec::new(),
            variables: Vec::new(),
            stops: 0,
            pages: None,
            recording: None,
        };
        let process = session.add_process(child.pid, None, 0.0);
        session.spaces.push(Space::new(process));
        let mut task = Task::new(process, 0, 0.0);
        task.exec_called = Some(child.exec_called.us_since(child.started));
        session.tasks.insert(child.pid, task);
        session
    }

    /// Runs until the launched process has ended, ends what it left running, and reports.
    pub fn run(mut self) -> Result<TracedLaunch, LaunchError> {
        let (total_us, ending, left_running) = self.follow()?;
        Ok(self.report(total_us, ending, left_running))
    }

    /// Runs until the launched process has ended, and ends what it left running: how long it took,
    /// how it ended, and how many processes it left.
    pub fn follow(&mut self) -> Result<(f64, Ending, u32), LaunchError> {
        let ending = loop {
            let (tid, status, at_us) = self.wait()?;
            if libc::WIFSTOPPED(status) {
                self.stops += 1;
                self.stop_clock();
                let resume = self.on_stop(tid, status, at_us);
                self.tracing.go_on();
                self.resume(tid, resume);
            } else {
                self.on_end(tid, at_us);
                if tid == self.root {
                    break ptrace::ending(status);
                }
            }
        };
        let total_us = self.processes.first().map_or(0.0, |process| process.record.ended_us);
        let left_running = self.end_descendants()?;
        Ok((total_us, ending, left_running))
    }

    /// Microseconds since the launch began, without the tracer's own time.
    pub fn now_us(&self) -> f64 {
        let now = self.tracing.since.unwrap_or_else(Instant::now);
        now.us_since(self.started) - self.tracing.total_us
    }

    /// While the tracer handles a stop the launch stands still: its only thread is stopped, or
    /// all of them share the tracer's CPU.
    fn stop_clock(&mut self) {
        if self.request.cpu.is_some() || self.tasks.len() == 1 {
            self.tracing.since = Some(Instant::now());
        }
    }

    fn wait(&self) -> Result<(Tid, i32, f64), LaunchError> {
        let waited = ptrace::wait_any();
        let at_us = self.now_us();
        let (tid, status) = waited?.ok_or(LaunchError::LauncherGone)?;
        Ok((tid, status, at_us))
    }

    pub fn on_stop(&mut self, tid: Tid, status: i32, at_us: f64) -> Resume {
        let Some(task) = self.tasks.get_mut(&tid) else {
            self.early.insert(tid, status);
            return Resume::Leave;
        };
        let stepped = task.stepping.take();
        if self.goes_on_stepping(tid, stepped, status) {
            return Resume::Step;
        }
        let Some(task) = self.tasks.get_mut(&tid) else { return Resume::Continue(0) };
        if let Some(address) = stepped
            && let Some(space) = self.spaces.get_mut(task.space)
        {
            if space.watch.saves_flags(address)
                && arch::instruction_pointer(tid).is_ok_and(|next| next != address)
            {
                // A thread that has been killed meanwhile restores nothing.
                let _ = arch::clear_saved_trap(tid);
            }
            // Where this fails the memory is gone, and with it the breakpoint.
            let _ = match self.recording {
                Some(_) => space.watch.replant(tid, address),
                None => space.replant(tid, address),
            };
        }
        let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
        if let Some(originals) = task.born.take() {
            for (address, byte) in originals {
                // A page that is gone from the copy cannot be executed either.
                let _ = breakpoints::restore(tid, address, byte);
            }
            self.mend_clone(tid);
            if signal == libc::SIGSTOP || event == PTRACE_EVENT_STOP {
                return self.on_held(tid).unwrap_or(Resume::Continue(0));
            }
        }
        let outcome = match event {
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                self.on_birth(tid, at_us)
            }
            libc::PTRACE_EVENT_EXEC => self.on_exec(tid, at_us),
            libc::PTRACE_EVENT_EXIT => self.on_exit(tid, at_us),
            libc::PTRACE_EVENT_SECCOMP => self.on_filtered_call(tid, at_us),
            PTRACE_EVENT_STOP if is_stop_signal(signal) => Ok(Resume::Listen),
            PTRACE_EVENT_STOP => Ok(Resume::Continue(0)),
            _ if signal == SYSCALL_STOP => self.on_answer(tid, at_us),
            _ if signal == libc::SIGTRAP && !self.is_begun() => {
                ptrace::set_options(tid).and_then(|()| self.on_exec(tid, at_us))
            }
            _ if signal == libc::SIGTRAP && self.recording.is_some() => {
                self.on_recorded_trap(tid, stepped.is_some())
            }
            _ if signal == libc::SIGTRAP && stepped.is_some() => Ok(Resume::Continue(0)),
            _ if signal == libc::SIGTRAP => self.on_trap(tid, at_us),
            _ => return self.on_signal(tid, signal),
        };
        // Registers of a thread that has just been killed cannot be read; it only has to go on.
        outcome.unwrap_or(Resume::Continue(0))
    }

    /// The first stop, after the launcher's own execve, comes before any event is chosen.
    fn is_begun(&self) -> bool {
        self.processes.first().is_some_and(|root| !root.record.images.is_empty())
    }

    fn on_signal(&mut self, tid: Tid, signal: i32) -> Resume {
        if is_stop_signal(signal) && ptrace::in_group_stop(tid) {
            // Only a seized tracee can stay stopped and yet be woken by SIGCONT.
            return match ptrace::seize_stopped(tid) {
                Ok(()) => Resume::Leave,
                Err(_) => Resume::Continue(0),
            };
        }
        if signal == libc::SIGSTOP
            && let Some(resume) = self.on_held(tid)
        {
            return resume;
        }
        match &mut self.recording {
            Some(recording) if recording.ends_by(signal) => {
                recording.finish();
                Resume::Continue(0)
            }
            Some(_) if !is_stop_signal(signal) => Resume::Deliver(signal),
            _ => Resume::Continue(signal),
        }
    }

    /// Resumes `tid`. A signal to a recorded thread is delivered with a stop at its handler.
    pub fn resume(&mut self, tid: Tid, how: Resume) {
        if let (Resume::Deliver(_), Some(task)) = (how, self.tasks.get_mut(&tid)) {
            task.trap.delivered = true;
        }
        ptrace::resume(tid, how);
    }

    fn on_filtered_call(&mut self, tid: Tid, at_us: f64) -> io::Result<Resume> {
        let reason = Reason::from_message(ptrace::event_message(tid)?);
        match reason {
            Some(Reason::ThreadPointer) => self.on_thread_pointer(tid, at_us),
            Some(Reason::MapLibrary) => self.on_library_mapped(tid, at_us),
            Some(Reason::Execute) => {
                if let Some(task) = self.tasks.get_mut(&tid) {
                    task.exec_called = Some(at_us);
                }
            }
            Some(Reason::Wait) => return self.on_wait(tid, at_us),
            Some(
                reason @ (Reason::MapCode
                | Reason::ProtectCode
                | Reason::TrapAction
                | Reason::Mask
                | Reason::Undumpable
                | Reason::Clone
                | Reason::Trace
                | Reason::AwaitTracee
                | Reason::MoveMemory),
            ) => return self.on_recorded_call(tid, reason),
            Some(Reason::File) => {}
            // A filter of the program's own: without a tracer the call fails like this.
            None => {
                arch::answer(tid, (-libc::ENOSYS).into())?;
                return Ok(Resume::Continue(0));
            }
        }
        let is_file_call = matches!(reason, Some(Reason::File | Reason::Execute));
        if !(self.request.record_files && is_file_call) {
            return Ok(Resume::Continue(0));
        }
        let call = files::entered(tid, &ptrace::registers(tid)?, at_us);
        let resume = if call.is_some() { Resume::ToSyscallExit } else { Resume::Continue(0) };
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.call = call;
        }
        Ok(resume)
    }

    fn on_answer(&mut self, tid: Tid, at_us: f64) -> io::Result<Resume> {
        if self.recording.is_some() {
            return self.on_recorded_answer(tid);
        }
        self.on_waited(tid, at_us);
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(Resume::Continue(0)) };
        let process = task.process;
        if let Some(call) = task.call.take()
            && let Some(error) = files::answer(call.operation, &ptrace::registers(tid)?)
        {
            self.record_call(process, call, error);
        }
        Ok(Resume::Continue(0))
    }

    pub fn record_call(&mut self, process: usize, call: Pending, error: i32) {
        let Some(process) = self.processes.get(process) else { return };
        let Pending { operation, path, at_us } = call;
        self.file_calls.push(FileCall { pid: process.record.pid, at_us, operation, path, error });
    }
}

impl Task {
    pub fn new(process: usize, space: usize, started_us: f64) -> Self {
        Task {
            process,
            space,
            born: None,
            stepping: None,
            call: None,
            waiting: Waiting::default(),
            started_us,
            gone_us: None,
            exec_called: None,
            trap: TrapState::default(),
            hold: None,
        }
    }
}

fn is_stop_signal(signal: i32) -> bool {
    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}
