//! A process of a debugged launch: what is recorded of it, and where it is stopped for that.

use super::breakpoints::{Breakpoints, Place};
use crate::windows::debug::context::{self, Step};
use crate::windows::debug::loader_stops::LoaderStops;
use crate::windows::debug::{names, wine_exceptions};
use crate::windows::launcher::loaded_image::{self, Header, ImageProblem};
use crate::windows::launcher::memory::ChildMemory;
use model::{DebuggedDll, DebuggedProcess};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use windows_sys::Win32::Foundation::HANDLE;

/// One process.
pub(super) struct Debuggee {
    pub(super) record: DebuggedProcess,
    memory: ChildMemory,
    /// Handles of its threads, by their ids.
    pub(super) threads: HashMap<u32, HANDLE>,
    breakpoints: Breakpoints,
    /// Initializers that have been called and have not returned.
    running: Vec<Running>,
    /// Threads that execute the one instruction at the place of a breakpoint, which is set again then.
    stepping: HashMap<u32, usize>,
    /// The program's file, and those of the DLLs, in their order. Their paths are looked up when the launch is over.
    file: Option<File>,
    dll_files: Vec<Option<File>>,
    pub(super) loader: LoaderStops,
}

/// An initializer that runs.
struct Running {
    dll: usize,
    /// Where the stack pointer is when it has returned.
    stack: usize,
    returns_to: usize,
}

/// What a breakpoint means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// The entry point of the program.
    Entry,
    /// Another breakpoint of headstart.
    Known,
    /// The loader stops for debuggers.
    Loader,
    /// It is the program's own.
    Own,
}

impl Debuggee {
    pub(super) fn new(
        record: DebuggedProcess,
        process: HANDLE,
        thread: (u32, HANDLE),
        file: Option<File>,
    ) -> Debuggee {
        let base = record.base as usize;
        let mut debuggee = Debuggee {
            record,
            memory: ChildMemory::new(process),
            threads: HashMap::from([thread]),
            breakpoints: Breakpoints::default(),
            running: Vec::new(),
            stepping: HashMap::new(),
            file,
            dll_files: Vec::new(),
            loader: LoaderStops::default(),
        };
        let image = image(&debuggee.memory, base, debuggee.file.as_ref());
        if let Err(why) = debuggee.stop_at_entry(image, Place::Program) {
            debuggee
                .record
                .notes
                .push(format!("{why}: its entry point and initializers were not seen"));
        }
        debuggee
    }

    /// A DLL was mapped.
    pub(super) fn loaded(&mut self, base: usize, file: Option<File>, at_us: f64) {
        let place = self.record.dlls.len();
        self.record.dlls.push(DebuggedDll {
            path: String::new(),
            base: base as u64,
            loaded_us: at_us,
            initialized_us: None,
            returned_us: None,
        });
        let image = match self.is_left_alone() {
            true => None,
            false => Some(image(&self.memory, base, file.as_ref())),
        };
        self.dll_files.push(file);
        // Without a breakpoint its initializer is not seen, and nothing else is lost.
        if let Some(image) = image
            && let Ok(bytes) = self.stop_at_entry(image, Place::Dll(place))
            && place == 0
        {
            self.loader.ntdll = Some(base..base + bytes);
            // Where that fails, exceptions before the entry point end the program under Wine.
            let _ = wine_exceptions::mend(&self.memory, base);
        }
    }

    /// What was recorded, with the paths of all files.
    pub(super) fn into_record(self) -> DebuggedProcess {
        let mut record = self.record;
        record.path = names::path(self.file.as_ref());
        for (dll, file) in record.dlls.iter_mut().zip(&self.dll_files) {
            dll.path = names::path(file.as_ref());
        }
        record
    }

    /// A DLL is about to be unmapped.
    pub(super) fn unloaded(&mut self, base: usize) {
        let found = self.record.dlls.iter().rposition(|dll| dll.base == base as u64);
        found.into_iter().for_each(|dll| self.breakpoints.forget(dll));
    }

    /// Sets a breakpoint at the entry point of an image, where it has one; gives the image's size.
    fn stop_at_entry(&mut self, image: Header, place: Place) -> Result<usize, Obstacle> {
        if !context::IS_HERE {
            return Err(Obstacle::Build);
        }
        let image = image??;
        match image.entry {
            Some(at) => self.breakpoints.set(&self.memory, at, place)?,
            None if place == Place::Program => return Err(Obstacle::NoEntry),
            None => {}
        }
        Ok(image.bytes)
    }

    /// A thread has reached a breakpoint.
    ///
    /// # Errors
    /// The instruction cannot be put back.
    pub(super) fn reached(&mut self, at: usize, thread: u32, at_us: f64) -> io::Result<Reached> {
        let Some((place, was_set)) = self.breakpoints.take(&self.memory, at)? else {
            return Ok(if self.loader.is_it(at) { Reached::Loader } else { Reached::Own });
        };
        let handle = *self.threads.get(&thread).ok_or(io::ErrorKind::NotFound)?;
        if !was_set {
            // Another thread was first, or the code has a breakpoint of its own there now.
            let mut byte = [0];
            self.memory.read(at, &mut byte)?;
            if byte == [context::BREAKPOINT] {
                return Ok(Reached::Own);
            }
        }
        let goes_on = |step| context::go_on_at(handle, at, step);
        match place {
            Place::Program => {
                goes_on(Step::Run)?;
                self.record.entry_us.get_or_insert(at_us);
                self.leave_alone()?;
                return Ok(Reached::Entry);
            }
            Place::Dll(dll) => {
                let stack = goes_on(Step::Run)?;
                self.begins(dll, stack, at_us);
            }
            Place::Return => {
                let stack = goes_on(Step::Run)?;
                self.returned(stack, at_us);
                // Initializers that have called the loader return to the same place.
                if self.running.iter().any(|running| running.returns_to == at) {
                    goes_on(Step::One)?;
                    self.stepping.insert(thread, at);
                }
            }
        }
        Ok(Reached::Known)
    }

    /// A thread has executed one instruction; whether headstart wanted that.
    ///
    /// # Errors
    /// The breakpoint behind it cannot be set again.
    pub(super) fn stepped(&mut self, thread: u32) -> io::Result<bool> {
        let Some(at) = self.stepping.remove(&thread) else { return Ok(false) };
        if !self.is_left_alone() {
            self.set_return(at)?;
        }
        Ok(true)
    }

    /// An initializer is called: it returns to the address on its stack.
    fn begins(&mut self, dll: usize, stack: usize, at_us: f64) {
        self.record.initializing_us.get_or_insert(at_us);
        if let Some(dll) = self.record.dlls.get_mut(dll) {
            dll.initialized_us.get_or_insert(at_us);
        }
        // What another thread had reached before may be told of later.
        if self.is_left_alone() {
            return;
        }
        let Ok(returns_to) = self.memory.word(stack) else { return };
        let is_set = self.breakpoints.is_set(returns_to)
            || self.stepping.values().any(|at| *at == returns_to)
            || self.set_return(returns_to).is_ok();
        if is_set {
            let stack = stack + size_of::<usize>();
            self.running.push(Running { dll, stack, returns_to });
        }
    }

    /// Sets a breakpoint where an initializer returns to: nearly always the same place of the loader.
    fn set_return(&mut self, at: usize) -> io::Result<()> {
        match self.loader.contains(at) {
            true => self.breakpoints.set_again(&self.memory, at, Place::Return),
            false => self.breakpoints.set(&self.memory, at, Place::Return),
        }
    }

    /// An initializer has returned; those that it had called are over as well.
    fn returned(&mut self, stack: usize, at_us: f64) {
        let Some(place) = self.running.iter().rposition(|running| running.stack == stack) else {
            return;
        };
        for running in self.running.drain(place..) {
            if running.stack == stack
                && let Some(dll) = self.record.dlls.get_mut(running.dll)
            {
                dll.returned_us.get_or_insert(at_us);
            }
        }
    }

    /// Whether the program's entry point has been reached: no breakpoint may be set any more.
    fn is_left_alone(&self) -> bool {
        self.record.entry_us.is_some()
    }

    /// The program's own code runs as it does without a debugger. Wine 8.0 could not handle the exceptions
    /// of a program that is told of one, and hands breakpoints to one only where the program is told of it.
    fn leave_alone(&mut self) -> io::Result<()> {
        self.breakpoints.take_all(&self.memory);
        self.running.clear();
        // One that has stepped already is still told of.
        for thread in self.stepping.keys().filter_map(|thread| self.threads.get(thread)) {
            context::run(*thread)?;
        }
        self.memory.hide_debugger()
    }
}

/// The header of the image at `base`, from its file where that is known.
fn image(memory: &ChildMemory, base: usize, file: Option<&File>) -> Header {
    match file.map(|file| loaded_image::read_file(file, base)) {
        Some(Ok(image)) => Ok(image),
        _ => loaded_image::read(memory, base),
    }
}

/// Why there is no breakpoint.
#[derive(Debug, thiserror::Error)]
enum Obstacle {
    #[error("its memory cannot be changed ({0})")]
    Memory(#[from] io::Error),
    #[error("{0}")]
    Image(#[from] ImageProblem),
    #[error("only the x86-64 build of headstart can set breakpoints")]
    Build,
    #[error("its header names no entry point, as those of some .NET programs do not")]
    NoEntry,
}
