//! A module whose functions are watched.

use crate::functions::{Bits, runs};
use crate::windows::debug::context::{BREAKPOINT, PUSH_FLAGS};
use crate::windows::launcher::memory::ChildMemory;
use image::FunctionStarts;
use model::{ModuleId, Rva};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// A module in a process.
pub(super) struct Watched {
    pub(super) module: ModuleId,
    functions: Arc<FunctionStarts>,
    /// Where RVA 0 is.
    pub(super) base: usize,
    /// For each function whether its breakpoint is there, and whether it ever was.
    planted: Bits,
    known: Bits,
    /// A function of it was called: it is no view that the program only reads.
    pub(super) is_executed: bool,
}

impl Watched {
    /// A module that is mapped at `base`: nothing is planted so far.
    pub(super) fn new(module: ModuleId, functions: Arc<FunctionStarts>, base: usize) -> Watched {
        let none = Bits::new(functions.starts.len());
        Watched { module, functions, base, planted: none.clone(), known: none, is_executed: false }
    }

    /// Plants a breakpoint at every function; gives their number. A start where something else is than in the file,
    /// or a breakpoint of the program's own, is left alone.
    ///
    /// # Errors
    /// The memory cannot be changed.
    pub(super) fn plant(&mut self, memory: &ChildMemory) -> io::Result<usize> {
        let functions = Arc::clone(&self.functions);
        let mut count = 0;
        // Each part has its own protection.
        for part in &functions.code {
            let begin = part.address.since(functions.preferred_base).unwrap_or(0);
            let end = begin + part.bytes;
            let index = |rva: u64| functions.starts.partition_point(|it| u64::from(it.0) < rva);
            let starts = index(begin)..index(end);
            for run in runs(&functions.starts[starts.clone()]) {
                count +=
                    self.plant_run(memory, starts.start + run.start..starts.start + run.end)?;
            }
        }
        Ok(count)
    }

    fn plant_run(&mut self, memory: &ChildMemory, run: Range<usize>) -> io::Result<usize> {
        let first = self.address(run.start);
        let mut bytes = vec![0; self.address(run.end - 1) - first + 1];
        memory.read(first, &mut bytes)?;
        let mut count = 0;
        for index in run {
            let at = self.address(index) - first;
            let byte = &mut bytes[at];
            if *byte != BREAKPOINT && self.functions.bytes.get(index) == Some(&*byte) {
                *byte = BREAKPOINT;
                self.planted.set(index, true);
                self.known.set(index, true);
                count += 1;
            }
        }
        if count > 0 {
            memory.write_as_debugger(first, &bytes)?;
        }
        Ok(count)
    }

    /// The function that begins at `at` and has, or had, a breakpoint.
    pub(super) fn index(&self, at: usize) -> Option<usize> {
        let rva = Rva(u32::try_from(at.checked_sub(self.base)?).ok()?);
        let index = self.functions.starts.binary_search(&rva).ok()?;
        self.known.get(index).then_some(index)
    }

    /// Whether the breakpoint of a function is there.
    pub(super) fn is_planted(&self, index: usize) -> bool {
        self.planted.get(index)
    }

    /// Whether the first instruction of a function puts the flags on the stack.
    pub(super) fn saves_flags(&self, index: usize) -> bool {
        self.functions.bytes.get(index) == Some(&PUSH_FLAGS)
    }

    /// Where a function begins, in its module.
    pub(super) fn rva(&self, index: usize) -> Rva {
        self.functions.starts[index]
    }

    /// Whether `at` is in the module.
    pub(super) fn contains(&self, at: usize) -> bool {
        at.checked_sub(self.base).is_some_and(|rva| (rva as u64) < self.functions.image_bytes)
    }

    /// Puts back what the program has in the place of a breakpoint.
    ///
    /// # Errors
    /// The memory cannot be changed.
    pub(super) fn lift(&mut self, memory: &ChildMemory, index: usize) -> io::Result<()> {
        self.planted.set(index, false);
        let Some(byte) = self.functions.bytes.get(index) else { return Ok(()) };
        memory.write_as_debugger(self.address(index), &[*byte])
    }

    /// Plants the breakpoint of a function again, unless the program has changed its first byte.
    ///
    /// # Errors
    /// The memory cannot be changed.
    pub(super) fn replant(&mut self, memory: &ChildMemory, index: usize) -> io::Result<()> {
        let at = self.address(index);
        let mut byte = [0];
        memory.read(at, &mut byte)?;
        if self.functions.bytes.get(index) == byte.first() {
            memory.write_as_debugger(at, &[BREAKPOINT])?;
            self.planted.set(index, true);
        }
        Ok(())
    }

    fn address(&self, index: usize) -> usize {
        self.base + self.functions.starts[index].0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::CodePart;
    use model::{FileOffset, Va};
    use std::cell::UnsafeCell;
    use windows_sys::Win32::System::Threading::GetCurrentProcess;

    /// Code of this very process, which nobody executes.
    struct Code(UnsafeCell<[u8; 4]>);

    impl Code {
        fn bytes(&self) -> [u8; 4] {
            // SAFETY: nothing else refers to the bytes, which the system may have changed.
            unsafe { self.0.get().read_volatile() }
        }

        fn write(&self, bytes: [u8; 4]) {
            // SAFETY: nothing else refers to the bytes.
            unsafe { self.0.get().write_volatile(bytes) }
        }
    }

    #[test]
    fn functions_that_are_as_in_the_file_are_planted_and_put_back() {
        // SAFETY: no pointer is passed.
        let memory = ChildMemory::new(unsafe { GetCurrentProcess() });
        let code = Code(UnsafeCell::new([0x55, 0x48, BREAKPOINT, 0x53]));
        let functions = FunctionStarts {
            code: vec![CodePart { offset: FileOffset(0), address: Va(0), bytes: 4 }],
            starts: [0, 1, 2, 3].map(Rva).into(),
            // The program has changed the second one, and the third has a breakpoint of its own.
            bytes: vec![0x55, 0x90, BREAKPOINT, 0x53],
            image_bytes: 4,
            ..FunctionStarts::default()
        };
        let base = code.0.get().addr();
        let mut watched = Watched::new(ModuleId(0), Arc::new(functions), base);
        assert_eq!(watched.plant(&memory).unwrap(), 2);
        assert_eq!(code.bytes(), [BREAKPOINT, 0x48, BREAKPOINT, BREAKPOINT]);
        let found = [0, 1, 2, 3].map(|at| watched.index(base + at));
        assert_eq!(found, [Some(0), None, None, Some(3)]);
        assert_eq!(watched.index(base + 4), None);
        watched.lift(&memory, 0).unwrap();
        assert_eq!(code.bytes(), [0x55, 0x48, BREAKPOINT, BREAKPOINT]);
        assert!(!watched.is_planted(0) && watched.index(base) == Some(0));
        watched.replant(&memory, 0).unwrap();
        assert!(watched.is_planted(0) && code.bytes()[0] == BREAKPOINT);
        // What the program has written there meanwhile stays.
        watched.lift(&memory, 3).unwrap();
        code.write([BREAKPOINT, 0x48, BREAKPOINT, 0x50]);
        watched.replant(&memory, 3).unwrap();
        assert!(!watched.is_planted(3) && code.bytes()[3] == 0x50);
    }
}
