//! What a recording has found so far, and when it ends.

use super::{FunctionRequest, RecordUntil, RecordedCall, RecordedModule};
use image::FunctionStarts;
use model::{ExecutedProgram, MappedVa, ModuleId, Rva, Until};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Code of the C library's start files: without more, a file may have no functions of its own.
const START_FILES_BYTES: u64 = 512;

/// Whether a launch is complete before its end: set by its recorder, or where it is watched from
/// outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Over(Arc<AtomicBool>);

impl Over {
    /// The launch is complete.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it is.
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A recording under way.
pub(crate) struct Recording {
    pub(crate) until: RecordUntil,
    pub(crate) count_limit: Option<u64>,
    deadline: Option<Duration>,
    began: Instant,
    /// Set where the launch is complete.
    pub(crate) over: Over,
    /// Nothing is recorded any more.
    finished: bool,
    pub(crate) modules: Vec<RecordedModule>,
    /// The starts of the functions that the launch is complete with.
    last: HashMap<ModuleId, Rva>,
    pub(crate) programs: Vec<ExecutedProgram>,
    pub(crate) calls: Vec<RecordedCall>,
    /// Where the calls of a function are, while they are counted.
    counted: HashMap<(ModuleId, Rva, u32), usize>,
    pub(crate) notes: Vec<String>,
    pub(crate) planted: u64,
}

impl Recording {
    pub(crate) fn new(request: &FunctionRequest, over: Over) -> Self {
        Recording {
            until: request.until.clone(),
            count_limit: request.count_limit,
            deadline: request.first,
            began: Instant::now(),
            over,
            finished: false,
            modules: Vec::new(),
            last: HashMap::new(),
            programs: Vec::new(),
            calls: Vec::new(),
            counted: HashMap::new(),
            notes: Vec::new(),
            planted: 0,
        }
    }

    /// The number of a module with these functions.
    pub(crate) fn module(
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
    pub(crate) fn ends_with(&mut self, module: ModuleId, rva: Rva) {
        self.last.insert(module, rva);
    }

    /// Name of the function that the launch is complete with.
    pub(crate) fn last_function(&self) -> Option<&str> {
        match &self.until {
            RecordUntil::Function(name) => Some(name),
            _ => None,
        }
    }

    /// Whether the launch is complete when the program's entry point is reached.
    pub(crate) fn ends_at_entry(&self) -> bool {
        self.until == RecordUntil::Launch(Until::Entry)
    }

    /// Says where no module has the function that the launch is complete with; `remedy` how names are written.
    pub(crate) fn note_missing_function(&mut self, remedy: &str) {
        if let (Some(name), true) = (self.last_function(), self.last.is_empty()) {
            self.note(format!("no module of the launch has a function '{name}'; {remedy}"));
        }
    }

    /// Says where a file has code, and nothing tells where its functions begin.
    pub(crate) fn note_hidden_functions(&mut self, path: &str, functions: &FunctionStarts) {
        let code: u64 = functions.code.iter().map(|part| part.bytes).sum();
        let is_known = functions.starts.iter().any(|start| *start != functions.entry);
        if code > START_FILES_BYTES && !is_known {
            self.note(format!(
                "'{path}': its calls are unavailable: no function starts are known, as it has neither \
                 symbols of functions nor an unwind table; if it has functions of its own, trace a \
                 build that is not stripped"
            ));
        }
    }

    /// Says that a breakpoint of nobody's was met, outside of all modules.
    pub(crate) fn note_foreign_breakpoint(&mut self, program: &str) {
        self.note(format!(
            "'{program}' executed a breakpoint instruction outside of the recorded modules: it is the \
             program's own, or the program copied a function with the recorder's breakpoint in it and \
             behaves differently than usual"
        ));
    }

    /// Says that a breakpoint was met where the recorder had one and has removed it.
    pub(crate) fn note_copied_breakpoint(&mut self, program: &str) {
        self.note(format!(
            "'{program}' executed a breakpoint instruction at the start of a function after the recorder \
             had removed its breakpoint there: it is the program's own, or the program wrote back code \
             that it had copied with the recorder's breakpoint in it and behaves differently than usual"
        ));
    }

    /// Says which programs have been ended that the launched one left running; `remedy` what to do.
    pub(crate) fn note_left(&mut self, programs: &[String], remedy: &str) {
        // A launch that was complete is ended with all that belongs to it.
        if programs.is_empty() || self.over.is_over() {
            return;
        }
        let names: BTreeSet<String> = programs.iter().map(|path| format!("'{path}'")).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        self.note(format!(
            "processes that the program left running were ended with it: {} ({names}); what they \
             would have called later is missing; {remedy}",
            programs.len()
        ));
    }

    /// The launch is complete.
    pub(crate) fn finish(&mut self) {
        self.over.set();
        self.finished = true;
    }

    /// Whether nothing is recorded any more.
    pub(crate) fn is_finished(&mut self) -> bool {
        let late = self.deadline.is_some_and(|deadline| self.began.elapsed() >= deadline);
        self.finished |= late || self.over.is_over();
        self.finished
    }

    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// A process executes `path`; the number of that program.
    pub(crate) fn add_program(&mut self, pid: u32, path: String, forked_from: Option<u32>) -> u32 {
        self.programs.push(ExecutedProgram { pid, path, forked_from });
        (self.programs.len() - 1) as u32
    }

    /// Whether the launch is complete with a call of this function.
    pub(crate) fn is_last(&self, module: ModuleId, rva: Rva) -> bool {
        self.last.get(&module) == Some(&rva)
    }

    /// Records a call by a program; whether the function's calls are to be counted further.
    pub(crate) fn record(&mut self, program: u32, module: ModuleId, rva: Rva) -> bool {
        let Some(limit) = self.count_limit else {
            self.push(program, module, rva, None);
            return false;
        };
        let key = (module, rva, program);
        let count = match self.counted.get(&key) {
            Some(&at) => {
                let count = self.calls[at].count.unwrap_or(0) + 1;
                self.calls[at].count = Some(count);
                count
            }
            None => {
                self.counted.insert(key, self.calls.len());
                self.push(program, module, rva, Some(1));
                1
            }
        };
        count < limit
    }

    fn push(&mut self, program: u32, module: ModuleId, rva: Rva, count: Option<u64>) {
        self.calls.push(RecordedCall { program, module, rva, count });
    }
}
