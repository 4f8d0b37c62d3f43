//! A process of a recorded launch: its breakpoints, and where its threads are with them.

use super::watched::Watched;
use crate::windows::debug::context::{self, BREAKPOINT, Step};
use crate::windows::debug::loader_stops::LoaderStops;
use crate::windows::debug::wine_exceptions;
use crate::windows::launcher::loaded_image::{self, ImageProblem};
use crate::windows::launcher::memory::ChildMemory;
use crate::windows::under_wine;
use image::FunctionStarts;
use model::{ModuleId, Rva};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use windows_sys::Win32::Foundation::HANDLE;

/// One process.
pub(super) struct Process {
    pub(super) pid: u32,
    /// Index of the program that it executes.
    pub(super) program: u32,
    memory: ChildMemory,
    /// Handles of its threads, by their ids.
    pub(super) threads: HashMap<u32, HANDLE>,
    watched: Vec<Watched>,
    /// A thread that executes the one instruction at the place of a breakpoint, which is planted again then.
    stepping: Option<Stepping>,
    /// Threads whose trap flag the program may have seen during a step, and may set again: in the context of a thread
    /// that it had suspended, or of an exception. A step of theirs that nobody has asked for is not passed on.
    strays: HashSet<u32>,
    /// Its program is not for x86-64.
    pub(super) is_narrow: bool,
    pub(super) has_ended: bool,
    /// It has ended by an exception.
    pub(super) has_crashed: bool,
    /// Why a breakpoint could not be handled: the process was ended meanwhile, or it does not do what it would.
    pub(super) failed: Option<io::Error>,
    pub(super) loader: LoaderStops,
}

/// A thread that executes one instruction, while the others wait.
struct Stepping {
    thread: u32,
    at: usize,
    others: Vec<HANDLE>,
    /// How often the program itself has suspended the thread.
    suspended: u32,
}

/// A module that is to be watched.
pub(super) struct NewModule {
    pub(super) module: ModuleId,
    pub(super) functions: Arc<FunctionStarts>,
    pub(super) base: usize,
}

/// What a breakpoint means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// A function is called.
    Function { module: ModuleId, rva: Rva },
    /// A breakpoint that was just removed for another thread, or that is to be met again when that has gone on.
    Known,
    /// The loader stops for debuggers.
    Loader,
    /// It is the program's own.
    Own,
}

impl Process {
    pub(super) fn new(pid: u32, program: u32, process: HANDLE, thread: (u32, HANDLE)) -> Process {
        Process {
            pid,
            program,
            memory: ChildMemory::new(process),
            threads: HashMap::from([thread]),
            watched: Vec::new(),
            stepping: None,
            strays: HashSet::new(),
            is_narrow: false,
            has_ended: false,
            has_crashed: false,
            failed: None,
            loader: LoaderStops::default(),
        }
    }

    /// Where its program has a function, and had a breakpoint of the recorder, or one still: a breakpoint that it
    /// executes there and that is none of the recorder's may be a copy of one.
    pub(super) fn had_breakpoint(&self, at: usize) -> bool {
        self.place(at).is_some()
    }

    /// Whether nothing of it is watched so far.
    pub(super) fn is_new(&self) -> bool {
        self.watched.is_empty()
    }

    /// A DLL was mapped at `base`. The first one is ntdll.
    pub(super) fn loads(&mut self, base: usize) {
        if self.loader.ntdll.is_some() {
            return;
        }
        let bytes = match loaded_image::read(&self.memory, base) {
            Ok(Ok(image)) => image.bytes,
            _ => 0,
        };
        self.loader.ntdll = Some(base..base + bytes);
        // Where that fails, exceptions of the program end it under Wine.
        let _ = wine_exceptions::mend(&self.memory, base);
    }

    /// Plants a breakpoint at every function of a module; gives their number.
    ///
    /// # Errors
    /// The module is not for x86-64, or the memory cannot be changed.
    pub(super) fn watch(&mut self, new: NewModule) -> io::Result<usize> {
        self.unloaded(new.base);
        // The loader maps each module once: a further mapping of one that is executed is there for reading.
        let is_same = |watched: &&Watched| watched.module == new.module;
        if self.watched.iter().filter(is_same).any(|watched| watched.is_executed) {
            return Ok(0);
        }
        if let Err(problem) = loaded_image::read(&self.memory, new.base)? {
            self.is_narrow = self.is_new() && problem == ImageProblem::Machine;
            return Err(io::Error::other(problem));
        }
        let mut watched = Watched::new(new.module, new.functions, new.base);
        let planted = watched.plant(&self.memory);
        // Those that were planted before an error are known all the same.
        self.watched.push(watched);
        planted
    }

    /// The module at `base` is about to be unmapped.
    pub(super) fn unloaded(&mut self, base: usize) {
        self.watched.retain(|watched| watched.base != base);
    }

    /// A thread has ended.
    pub(super) fn thread_ended(&mut self, thread: u32) {
        let stepping = self.take_step(thread);
        self.threads.remove(&thread);
        self.strays.remove(&thread);
        if let Some(stepping) = stepping {
            // It was ended under the breakpoint of a function that others may call; and so may the process be.
            let _ = self.replant(stepping.at);
        }
    }

    /// Whether a module that is watched has `at`.
    pub(super) fn watches(&self, at: usize) -> bool {
        self.watched.iter().any(|watched| watched.contains(at))
    }

    /// A thread has reached a breakpoint. If it is that of a function, the thread executes what is in its place next.
    ///
    /// # Errors
    /// The instruction cannot be put back.
    pub(super) fn reached(&mut self, at: usize, thread: u32) -> io::Result<Reached> {
        let Some((place, index)) = self.place(at) else {
            return Ok(if self.loader.is_it(at) { Reached::Loader } else { Reached::Own });
        };
        let handle = self.thread(thread)?;
        let watched = &mut self.watched[place];
        let mut reached = Reached::Known;
        if !watched.is_planted(index) {
            // Another thread was first, or the code has a breakpoint of its own there now.
            let mut byte = [0];
            self.memory.read(at, &mut byte)?;
            if byte == [BREAKPOINT] {
                return Ok(Reached::Own);
            }
        } else if self.stepping.is_none() {
            watched.lift(&self.memory, index)?;
            watched.is_executed = true;
            reached = Reached::Function { module: watched.module, rva: watched.rva(index) };
        }
        context::go_on_at(handle, at, Step::Run)?;
        Ok(reached)
    }

    /// The thread, which is about to execute the instruction at `at`, stops behind it, so that the breakpoint there
    /// can be planted again. The other threads wait until then, so none calls the function unseen.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn step(&mut self, thread: u32, at: usize) -> io::Result<()> {
        let handle = self.thread(thread)?;
        context::go_on_at(handle, at, Step::One)?;
        let others = self.threads.iter().filter(|(id, _)| **id != thread);
        let others =
            others.map(|(_, handle)| *handle).filter(|other| context::suspend(*other).is_some());
        let others: Vec<HANDLE> = others.collect();
        if !others.is_empty() {
            self.strays.insert(thread);
        }
        // Whoever would resume it waits until it has made its step.
        let suspended = context::suspend(handle).unwrap_or(0);
        (0..=suspended).for_each(|_| context::resume(handle));
        self.stepping = Some(Stepping { thread, at, others, suspended });
        Ok(())
    }

    /// A thread has executed one instruction; whether headstart wanted that. The breakpoint is planted again if
    /// `counts`.
    ///
    /// # Errors
    /// The breakpoint cannot be planted.
    pub(super) fn stepped(&mut self, thread: u32, counts: bool) -> io::Result<bool> {
        let Some(stepping) = self.take_step(thread) else {
            if !self.strays.contains(&thread) {
                return Ok(false);
            }
            context::run(self.thread(thread)?)?;
            return Ok(true);
        };
        let at = stepping.at;
        let (next, stack) = context::place(self.thread(thread)?)?;
        if next == at {
            // A string instruction stops after each repetition, and that is one call.
            self.step(thread, at)?;
            return Ok(true);
        }
        if self.place(at).is_some_and(|(place, index)| self.watched[place].saves_flags(index)) {
            self.clear_saved_trap(stack)?;
        }
        if counts {
            self.replant(at)?;
        }
        Ok(true)
    }

    /// A thread has raised an exception, perhaps by the very instruction that it was to execute alone.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn raised(&mut self, thread: u32) -> io::Result<()> {
        let Some(stepping) = self.take_step(thread) else { return Ok(()) };
        self.strays.insert(thread);
        context::run(self.thread(thread)?)?;
        self.replant(stepping.at)
    }

    /// The step of the thread is over, if it makes one: the others may go on.
    fn take_step(&mut self, thread: u32) -> Option<Stepping> {
        let stepping = self.stepping.take_if(|stepping| stepping.thread == thread)?;
        if let Some(handle) = self.threads.get(&thread) {
            for _ in 0..stepping.suspended {
                context::suspend(*handle);
            }
        }
        stepping.others.iter().for_each(|other| context::resume(*other));
        Some(stepping)
    }

    /// The flags that the step has put on the stack are to be those of the program: it may restore them.
    fn clear_saved_trap(&self, stack: usize) -> io::Result<()> {
        let flags = self.memory.word(stack)? & !(context::TRAP as usize);
        self.memory.write_as_debugger(stack, &flags.to_le_bytes())
    }

    /// From now on the process is not told that it is debugged; not under Wine, which hands breakpoints to a debugger
    /// only as long as it is.
    pub(super) fn hide_debugger(&self) {
        if under_wine::version().is_none() {
            // A program that asks is told the truth then.
            let _ = self.memory.hide_debugger();
        }
    }

    fn replant(&mut self, at: usize) -> io::Result<()> {
        match self.place(at) {
            Some((place, index)) => self.watched[place].replant(&self.memory, index),
            None => Ok(()),
        }
    }

    /// The module and the function that begins at `at`, by index.
    fn place(&self, at: usize) -> Option<(usize, usize)> {
        let mut all = self.watched.iter().enumerate();
        all.find_map(|(place, watched)| Some((place, watched.index(at)?)))
    }

    /// Whether not even the first byte of an image can be read: the process is being ended.
    pub(super) fn is_out_of_reach(&self, base: usize) -> bool {
        self.memory.read(base, &mut [0]).is_err()
    }

    /// What a breakpoint gave. An error is kept until the process ends, for it is one only if the process goes on: the
    /// memory and the threads of a process that is being ended are out of reach already.
    pub(super) fn unless_it_ends<T>(&mut self, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(given) => Some(given),
            Err(error) => {
                self.failed.get_or_insert(error);
                None
            }
        }
    }

    fn thread(&self, thread: u32) -> io::Result<HANDLE> {
        self.threads.get(&thread).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
