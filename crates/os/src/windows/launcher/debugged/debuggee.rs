//! A process of a debugged launch: what is recorded of it, and the breakpoints that are set in it.

use super::context;
use crate::windows::launcher::loaded_image::{self, ImageProblem};
use crate::windows::launcher::memory::ChildMemory;
use model::{DebuggedDll, DebuggedProcess};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use windows_sys::Win32::Foundation::HANDLE;

/// One process.
pub(super) struct Debuggee {
    pub(super) record: DebuggedProcess,
    memory: ChildMemory,
    /// Handles of its threads, by their ids.
    pub(super) threads: HashMap<u32, HANDLE>,
    breakpoints: Vec<Breakpoint>,
    /// The program's file, and those of the DLLs, in their order. Their paths are looked up after the launch, so as
    /// not to slow it down.
    pub(super) file: Option<File>,
    pub(super) dll_files: Vec<Option<File>>,
    /// The address range of ntdll, the first DLL, in which the loader stops once for debuggers.
    loader: Range<usize>,
    /// The loader has stopped, and that of 32-bit programs, which runs above it.
    loader_stopped: bool,
    loader32_stopped: bool,
}

/// A breakpoint at an entry point.
struct Breakpoint {
    at: usize,
    /// The byte in its place.
    instead_of: u8,
    /// The DLL that it is in, by its place; `None` for the program.
    dll: Option<usize>,
    is_set: bool,
}

/// What a breakpoint means.
pub(super) enum Reached {
    /// The entry point of the program.
    Entry,
    /// The entry point of a DLL, or a breakpoint that had already been removed.
    Known,
    /// The loader stops for debuggers.
    Loader,
    /// A breakpoint of the program's own.
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
            breakpoints: Vec::new(),
            file,
            dll_files: Vec::new(),
            loader: 0..0,
            loader_stopped: false,
            loader32_stopped: false,
        };
        if let Err(why) = debuggee.stop_at_entry(base, None) {
            debuggee.record.notes.push(format!("{why}: its entry point was not seen"));
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
        });
        self.dll_files.push(file);
        if self.record.entry_us.is_some() {
            return;
        }
        // Without a breakpoint its initializer is not seen, and nothing else is lost.
        if let Ok(bytes) = self.stop_at_entry(base, Some(place))
            && place == 0
        {
            self.loader = base..base + bytes;
        }
    }

    /// Sets a breakpoint at the entry point of an image, if it has one; returns the image's size.
    fn stop_at_entry(&mut self, base: usize, dll: Option<usize>) -> Result<usize, Obstacle> {
        if !context::IS_HERE {
            return Err(Obstacle::Build);
        }
        let image = loaded_image::read(&self.memory, base)??;
        if let Some(at) = image.entry {
            let mut byte = [0];
            self.memory.read(at, &mut byte)?;
            self.memory.patch(at, context::BREAKPOINT)?;
            let [instead_of] = byte;
            self.breakpoints.push(Breakpoint { at, instead_of, dll, is_set: true });
        }
        Ok(image.bytes)
    }

    /// A thread has hit a breakpoint.
    ///
    /// # Errors
    /// The instruction cannot be put back.
    pub(super) fn reached(&mut self, at: usize, thread: u32, at_us: f64) -> io::Result<Reached> {
        // The last one: an image may have been loaded at the address of an earlier one.
        let Some(breakpoint) = self.breakpoints.iter_mut().rfind(|known| known.at == at) else {
            let is_loader = !self.loader_stopped && self.loader.contains(&at);
            self.loader_stopped |= is_loader;
            return Ok(if is_loader { Reached::Loader } else { Reached::Own });
        };
        let dll = breakpoint.dll;
        if breakpoint.is_set {
            self.memory.patch(at, breakpoint.instead_of)?;
            breakpoint.is_set = false;
            self.mark(dll, at_us);
        }
        let thread = self.threads.get(&thread).ok_or(io::ErrorKind::NotFound)?;
        context::go_on_at(*thread, at)?;
        if dll.is_some() {
            return Ok(Reached::Known);
        }
        self.leave_alone()?;
        Ok(Reached::Entry)
    }

    /// Lets the program's own code run as it does without a debugger. As long as a program is told that it is
    /// debugged, Wine 8.0 cannot handle its exceptions; once it is not told, Wine passes no breakpoint to the debugger.
    fn leave_alone(&mut self) -> io::Result<()> {
        for breakpoint in self.breakpoints.iter_mut().filter(|breakpoint| breakpoint.is_set) {
            // The DLL may have been unloaded.
            let _ = self.memory.patch(breakpoint.at, breakpoint.instead_of);
            breakpoint.is_set = false;
        }
        self.memory.hide_debugger()
    }

    /// A 32-bit thread has reached a breakpoint; whether it is that of the loader, which comes first.
    pub(super) fn reached32(&mut self) -> bool {
        !std::mem::replace(&mut self.loader32_stopped, true)
    }

    fn mark(&mut self, dll: Option<usize>, at_us: f64) {
        let Some(dll) = dll else {
            self.record.entry_us = Some(at_us);
            return;
        };
        self.record.initializing_us.get_or_insert(at_us);
        if let Some(dll) = self.record.dlls.get_mut(dll) {
            dll.initialized_us = Some(at_us);
        }
    }
}

/// Why there is no breakpoint.
#[derive(Debug, thiserror::Error)]
enum Obstacle {
    #[error("its memory cannot be read or written ({0})")]
    Memory(#[from] io::Error),
    #[error("{0}")]
    Image(#[from] ImageProblem),
    #[error("only the x86-64 build of headstart can set breakpoints")]
    Build,
}
