//! Functions in order of first call: a breakpoint at the start of every function of every module, planted when the
//! module is mapped and removed when it is hit.
//!
//! Nothing has to be rebuilt. The traced program runs at its own speed once it has called what it calls.

mod files;
mod process;
mod watched;

use crate::functions::{
    FunctionRequest, Over, RecordUntil, RecordedFunctions, Recording, pe_function,
};
use crate::windows::debug::context::IS_HERE;
use crate::windows::debug::events::{Event, EventKind};
use crate::windows::debug::{self, Answer, Moment, Watcher, names};
use crate::windows::launcher::prepared::Prepared;
use crate::windows::launcher::{Configuration, Launcher, NO_DEBUG_HEAP};
use crate::windows::{LaunchError, under_wine};
use files::Files;
use model::{Command, Ending, Until};
use process::{NewModule, Process, Reached};
use std::fs::File;

/// Signals by which a program may say that it has started: Windows has none.
pub const SPARE_SIGNALS: [(&str, i32); 0] = [];

/// How a program ends by Ctrl-C: STATUS_CONTROL_C_EXIT.
const CONTROL_C: u32 = 0xc000_013a;

/// Launches `command` under the debug API and records which functions it calls, and everything that it starts. Nothing
/// of it is left running. Where the user wants to stop, what was recorded until then is kept.
///
/// # Errors
/// What an ordinary launch meets; or it cannot be debugged.
pub fn functions_until_interrupt(
    command: &Command,
    request: &FunctionRequest,
) -> Result<RecordedFunctions, LaunchError> {
    if !IS_HERE {
        return Err(LaunchError::NotPermitted {
            mechanism: "recording functions",
            reason: "only the x86-64 build of headstart can set breakpoints; use that one"
                .to_owned(),
        });
    }
    // No window waits for an answer where the program crashes, and the CPU is one that there is.
    let configuration = Configuration { cpu: request.cpu, realtime: false };
    Launcher::start()?.configure(configuration)?;
    let prepared = Prepared::new(command, &request.stdio, &[NO_DEBUG_HEAP])?;
    // Entry and functions are breakpoints of the recorder.
    let until = match &request.until {
        RecordUntil::Launch(Until::Entry) | RecordUntil::Signal(_) | RecordUntil::Function(_) => {
            &Until::Exit
        }
        RecordUntil::Launch(until) => until,
    };
    let mut tracer = Tracer::new(request);
    let launched = debug::launch(&prepared, until, request.timeout, configuration, &mut tracer);
    let ending = match launched {
        Ok((_, ending)) => ending,
        Err(LaunchError::Interrupted) => Ending::of_windows(CONTROL_C),
        Err(other) => return Err(other),
    };
    Ok(tracer.into_functions(ending))
}

/// A launch that is recorded.
struct Tracer {
    recording: Recording,
    /// The launched one is the first.
    processes: Vec<Process>,
    files: Files,
}

impl Watcher for Tracer {
    fn on_event(&mut self, event: Event, _moment: Moment) -> Result<Answer, LaunchError> {
        let Event { pid, thread, kind } = event;
        let mut answer = Answer::HANDLED;
        match (kind, self.processes.iter().rposition(|it| it.pid == pid)) {
            (EventKind::Begun { process, thread: handle, base, file }, _) => {
                let path = names::path(file.as_ref());
                let program = self.recording.add_program(pid, path.clone(), None);
                self.processes.push(Process::new(pid, program, process, (thread, handle)));
                self.watch(self.processes.len() - 1, base, &path);
            }
            (kind, Some(process)) => answer = self.answered(process, thread, kind),
            (_, None) => {}
        }
        answer.completes = self.recording.over.is_over();
        Ok(answer)
    }
}

impl Tracer {
    fn new(request: &FunctionRequest) -> Tracer {
        let recording = Recording::new(request, Over::default());
        Tracer { recording, processes: Vec::new(), files: Files::default() }
    }

    /// Acts on an event of a process that is known.
    fn answered(&mut self, index: usize, thread: u32, kind: EventKind) -> Answer {
        let process = &mut self.processes[index];
        match kind {
            EventKind::ThreadBegun { thread: handle } => {
                process.threads.insert(thread, handle);
            }
            EventKind::ThreadEnded => process.thread_ended(thread),
            EventKind::Loaded { base, file } => self.loaded(index, base, file),
            EventKind::Unloaded { base } => process.unloaded(base),
            EventKind::Breakpoint { at } => return self.reached(index, thread, at),
            EventKind::Stepped => {
                let counts = !self.recording.is_finished();
                let is_ours = process.stepped(thread, counts);
                let is_ours = process.unless_it_ends(is_ours).unwrap_or(true);
                return if is_ours { Answer::HANDLED } else { Answer::PASSED_ON };
            }
            EventKind::Breakpoint32 if process.loader.is_it32() => {}
            EventKind::Breakpoint32 => return Answer::PASSED_ON,
            EventKind::Exception => {
                let raised = process.raised(thread);
                process.unless_it_ends(raised);
                return Answer::PASSED_ON;
            }
            EventKind::Ended { code } => {
                process.has_ended = true;
                process.has_crashed = matches!(Ending::of_windows(code), Ending::Status(_));
            }
            EventKind::Begun { .. } | EventKind::BadHandle | EventKind::Other => {}
        }
        Answer::HANDLED
    }

    /// A DLL was mapped.
    fn loaded(&mut self, index: usize, base: usize, file: Option<File>) {
        self.processes[index].loads(base);
        self.watch(index, base, &names::path(file.as_ref()));
    }

    /// Watches the functions of the image at `base`.
    fn watch(&mut self, index: usize, base: usize, path: &str) {
        let Tracer { recording, processes, files } = self;
        let process = &mut processes[index];
        if recording.is_finished() || process.is_narrow {
            return;
        }
        let functions = match files.functions(path) {
            Ok(functions) => functions,
            Err(error) => {
                recording.note(format!("'{path}': its functions are not recorded: {error}"));
                return;
            }
        };
        let module = recording.module(path, &functions, model::MappedVa(base as u64));
        if recording.ends_at_entry() && index == 0 && process.is_new() {
            recording.ends_with(module, functions.entry);
        }
        if let Some(last) =
            recording.last_function().and_then(|name| pe_function(&functions, path, name))
        {
            recording.ends_with(module, last);
        }
        recording.note_hidden_functions(path, &functions);
        match process.watch(NewModule { module, functions, base }) {
            Ok(count) => recording.planted += count as u64,
            Err(_) if process.is_out_of_reach(base) => {}
            Err(error) => {
                recording.note(format!("'{path}': its functions are not recorded: {error}"));
            }
        }
    }

    /// A thread has reached a breakpoint.
    fn reached(&mut self, index: usize, thread: u32, at: usize) -> Answer {
        let Tracer { recording, processes, .. } = self;
        let process = &mut processes[index];
        let reached = process.reached(at, thread);
        match process.unless_it_ends(reached).unwrap_or(Reached::Known) {
            Reached::Function { module, rva } => {
                if recording.is_last(module, rva) {
                    recording.finish();
                }
                let is_counted =
                    !recording.is_finished() && recording.record(process.program, module, rva);
                if is_counted {
                    let step = process.step(thread, at);
                    process.unless_it_ends(step);
                }
            }
            Reached::Known => {}
            Reached::Loader => process.hide_debugger(),
            Reached::Own => {
                let program = &recording.programs[process.program as usize];
                let path = program.path.clone();
                if process.had_breakpoint(at) {
                    recording.note_copied_breakpoint(&path);
                } else if !process.watches(at) {
                    recording.note_foreign_breakpoint(&path);
                }
                return Answer::PASSED_ON;
            }
        }
        Answer::HANDLED
    }

    /// What was recorded of a launch that ended so.
    fn into_functions(mut self, ending: Ending) -> RecordedFunctions {
        let is_ready = ending == Ending::Ready;
        let recording = &mut self.recording;
        for process in self.processes.iter_mut().filter(|process| process.has_crashed) {
            if let Some(error) = process.failed.take() {
                let path = &recording.programs[process.program as usize].path;
                recording.note(format!(
                    "'{path}' crashed, perhaps because headstart could not handle a breakpoint in it \
                     ({error}); record the launch again"
                ));
            }
        }
        if let Some(version) = under_wine::version() {
            recording.note(format!(
                "recorded under Wine {version}, which tells programs that they are debugged \
                 (IsDebuggerPresent)"
            ));
        }
        recording.note_missing_function("write the name as a trace of the whole launch does");
        let left = self.processes.iter().skip(1).filter(|process| !process.has_ended);
        let left: Vec<String> = left
            .filter_map(|process| recording.programs.get(process.program as usize))
            .map(|program| program.path.clone())
            .collect();
        if !is_ready && ending != Ending::TimedOut {
            recording.note_left(&left, "to record what a launcher starts, make it wait for that");
        }
        let Recording { modules, programs, calls, notes, planted, .. } = self.recording;
        RecordedFunctions {
            modules,
            programs,
            calls,
            notes,
            ending,
            ready: is_ready,
            left_running: left.len() as u32,
            planted,
        }
    }
}
