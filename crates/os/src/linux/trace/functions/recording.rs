//! What a recording has found so far, and when it ends.

use super::watched::Hit;
use super::{FunctionRequest, RecordUntil, RecordedCall, RecordedModule};
use crate::linux::trace::tracer::Over;
use image::FunctionStarts;
use model::{Ending, ExecutedProgram, MappedVa, ModuleId, Rva, Until};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A recording under way.
pub struct FunctionRecording {
    until: RecordUntil,
    pub count_limit: Option<u64>,
    deadline: Option<Duration>,
    began: Instant,
    /// Set where the launch is complete.
    over: Over,
    /// Nothing is recorded any more.
    finished: bool,
    pub modules: Vec<RecordedModule>,
    /// The starts of the functions that the launch is complete with.
    last: HashMap<ModuleId, Rva>,
    pub programs: Vec<ExecutedProgram>,
    /// The program that a process executes, and of a fork that has called nothing so far what
    /// it was forked from, by index of the process.
    processes: HashMap<usize, Executing>,
    /// The programs that have mapped a PE image.
    images_loaded: HashSet<u32>,
    pub calls: Vec<RecordedCall>,
    /// Where the calls of a function are, while they are counted.
    counted: HashMap<(ModuleId, Rva, u32), usize>,
    pub notes: Vec<String>,
    pub planted: u64,
    /// A breakpoint instruction was executed that is none of the recorder's.
    pub foreign_breakpoint: bool,
}

/// What a process executes.
#[derive(Clone, Copy, Debug)]
enum Executing {
    /// This program.
    Program(u32),
    /// A copy of this one, in which it has called nothing so far.
    ForkOf(Option<u32>),
}

impl FunctionRecording {
    pub fn new(request: &FunctionRequest, over: Over) -> Self {
        FunctionRecording {
            until: request.until.clone(),
            count_limit: request.count_limit,
            deadline: request.first,
            began: Instant::now(),
            over,
            finished: false,
            modules: Vec::new(),
            last: HashMap::new(),
            programs: Vec::new(),
            processes: HashMap::new(),
            images_loaded: HashSet::new(),
            calls: Vec::new(),
            counted: HashMap::new(),
            notes: Vec::new(),
            planted: 0,
            foreign_breakpoint: false,
        }
    }

    /// The number of a module with these functions.
    pub fn module(
        &mut self,
        path: &str,
        functions: &Arc<FunctionStarts>,
        mapped_at: MappedVa,
    ) -> ModuleId {
        let same = |known: &RecordedModule| Arc::ptr_eq(&known.functions, functions);
        let known = self.modules.iter().position(same);
        ModuleId::at(known.unwrap_or_else(|| {
            let (path, functions) = (path.to_owned(), Arc::clone(functions));
            self.modules.push(RecordedModule { path, mapped_at, functions });
            self.modules.len() - 1
        }))
    }

    /// The launch is complete when this function is called.
    pub fn ends_with(&mut self, module: ModuleId, rva: Rva) {
        self.last.insert(module, rva);
    }

    /// Name of the function that the launch is complete with.
    pub fn last_function(&self) -> Option<&str> {
        match &self.until {
            RecordUntil::Function(name) => Some(name),
            _ => None,
        }
    }

    /// Says where no module has the function that the launch is complete with.
    pub fn note_missing_function(&mut self) {
        if let (Some(name), true) = (self.last_function(), self.last.is_empty()) {
            self.note(format!(
                "no module of the launch has a function '{name}'; write the name as 'nm FILE' does"
            ));
        }
    }

    /// Says what may be behind the end of a program that has sent itself SIGTRAP.
    pub fn note_own_end(&mut self, ending: Ending) {
        if ending == Ending::Signal(libc::SIGTRAP) && !self.foreign_breakpoint {
            let note = "the program was ended by a SIGTRAP that was sent to it; valgrind and other \
                        programs that interpret code find the recorder's breakpoints in it: trace \
                        the interpreted program without them";
            self.note(note.to_owned());
        }
    }

    /// Says which programs have been ended that the launched one left running.
    pub fn note_left(&mut self, programs: &[String]) {
        // A launch that was complete is ended with all that belongs to it.
        if programs.is_empty() || self.over.is_over() {
            return;
        }
        let names: BTreeSet<String> = programs.iter().map(|path| format!("'{path}'")).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        self.note(format!(
            "processes that the program left running were ended with it: {} ({names}); what they \
             would have called later is missing; to record a daemon, start it in the foreground",
            programs.len()
        ));
    }

    /// Whether the launch is complete when the program's entry point is reached.
    pub fn ends_at_entry(&self) -> bool {
        self.until == RecordUntil::Launch(Until::Entry)
    }

    /// Whether the launch is complete when a process gets this signal.
    pub fn ends_by(&self, signal: i32) -> bool {
        self.until == RecordUntil::Signal(signal)
    }

    /// The launch is complete.
    pub fn finish(&mut self) {
        self.over.set();
        self.finished = true;
    }

    /// Whether nothing is recorded any more.
    pub fn is_finished(&mut self) -> bool {
        let late = self.deadline.is_some_and(|deadline| self.began.elapsed() >= deadline);
        self.finished |= late || self.over.is_over();
        self.finished
    }

    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// `process` has executed `path`.
    pub fn executed(&mut self, process: usize, pid: u32, path: String) {
        let program = self.add_program(pid, path, None);
        self.processes.insert(process, Executing::Program(program));
    }

    /// `process` maps a PE image. The first one is the program that Wine was started for.
    pub fn loads_image(&mut self, process: usize, path: &str) {
        let Some(Executing::Program(program)) = self.processes.get(&process) else { return };
        if self.images_loaded.insert(*program)
            && let Some(program) = self.programs.get_mut(*program as usize)
        {
            program.path = path.to_owned();
        }
    }

    /// `child` is a copy of the process `parent`.
    pub fn forked(&mut self, parent: usize, child: usize) {
        let from = match self.processes.get(&parent) {
            Some(Executing::Program(program)) => Some(*program),
            Some(Executing::ForkOf(from)) => *from,
            None => None,
        };
        self.processes.insert(child, Executing::ForkOf(from));
    }

    /// Records a call; whether the function's calls are to be counted further.
    pub fn call(&mut self, process: usize, pid: u32, hit: Hit) -> bool {
        if self.last.get(&hit.module) == Some(&hit.rva) {
            self.finish();
        }
        if self.is_finished() {
            return false;
        }
        let program = self.program(process, pid);
        let Some(limit) = self.count_limit else {
            self.push(program, hit, None);
            return false;
        };
        let key = (hit.module, hit.rva, program);
        let count = match self.counted.get(&key) {
            Some(&at) => {
                let count = self.calls[at].count.unwrap_or(0) + 1;
                self.calls[at].count = Some(count);
                count
            }
            None => {
                self.counted.insert(key, self.calls.len());
                self.push(program, hit, Some(1));
                1
            }
        };
        count < limit
    }

    fn push(&mut self, program: u32, hit: Hit, count: Option<u64>) {
        self.calls.push(RecordedCall { program, module: hit.module, rva: hit.rva, count });
    }

    /// The program that `process` executes.
    fn program(&mut self, process: usize, pid: u32) -> u32 {
        match self.processes.get(&process).copied() {
            Some(Executing::Program(program)) => program,
            fork => {
                let from = match fork {
                    Some(Executing::ForkOf(from)) => from,
                    _ => None,
                };
                let parent = from.and_then(|from| self.programs.get(from as usize));
                let path = parent.map_or(String::new(), |parent| parent.path.clone());
                let program = self.add_program(pid, path, from);
                self.processes.insert(process, Executing::Program(program));
                program
            }
        }
    }

    fn add_program(&mut self, pid: u32, path: String, forked_from: Option<u32>) -> u32 {
        self.programs.push(ExecutedProgram { pid, path, forked_from });
        (self.programs.len() - 1) as u32
    }
}
