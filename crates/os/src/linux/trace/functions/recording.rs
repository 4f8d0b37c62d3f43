//! What a recording has found so far, and when it ends.

use super::watched::Hit;
use crate::functions::{FunctionRequest, Over, RecordUntil, Recording};
use model::Ending;
use std::collections::{HashMap, HashSet};
use std::ops::{Deref, DerefMut};

/// A recording under way.
pub(crate) struct FunctionRecording {
    found: Recording,
    /// The program that a process executes, and of a fork that has called nothing so far what
    /// it was forked from, by index of the process.
    processes: HashMap<usize, Executing>,
    /// The programs that have mapped a PE image.
    images_loaded: HashSet<u32>,
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

impl Deref for FunctionRecording {
    type Target = Recording;

    fn deref(&self) -> &Recording {
        &self.found
    }
}

impl DerefMut for FunctionRecording {
    fn deref_mut(&mut self) -> &mut Recording {
        &mut self.found
    }
}

impl FunctionRecording {
    pub fn new(request: &FunctionRequest, over: Over) -> Self {
        FunctionRecording {
            found: Recording::new(request, over),
            processes: HashMap::new(),
            images_loaded: HashSet::new(),
            foreign_breakpoint: false,
        }
    }

    /// What was found.
    pub fn into_found(self) -> Recording {
        self.found
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

    /// Whether the launch is complete when a process gets this signal.
    pub fn ends_by(&self, signal: i32) -> bool {
        self.until == RecordUntil::Signal(signal)
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
            && let Some(program) = self.found.programs.get_mut(*program as usize)
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
        if self.is_last(hit.module, hit.rva) {
            self.finish();
        }
        if self.is_finished() {
            return false;
        }
        let program = self.program(process, pid);
        self.record(program, hit.module, hit.rva)
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
}
