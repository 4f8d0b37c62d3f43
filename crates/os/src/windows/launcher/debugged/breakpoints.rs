//! The breakpoints in a process.

use crate::windows::debug::context::BREAKPOINT;
use crate::windows::launcher::memory::ChildMemory;
use std::io;

/// What a breakpoint stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The entry point of the program.
    Program,
    /// That of a DLL, by its place among the DLLs.
    Dll(usize),
    /// Where the loader goes on behind the call of an initializer.
    Return,
}

struct Breakpoint {
    at: usize,
    /// The byte in its place.
    instead_of: u8,
    place: Place,
    is_set: bool,
}

/// Those of one process, in the order in which they were set.
#[derive(Default)]
pub(super) struct Breakpoints(Vec<Breakpoint>);

impl Breakpoints {
    /// Sets one; not where the code has one of its own.
    ///
    /// # Errors
    /// The memory cannot be changed.
    pub(super) fn set(&mut self, memory: &ChildMemory, at: usize, place: Place) -> io::Result<()> {
        let mut byte = [0];
        memory.read(at, &mut byte)?;
        let [instead_of] = byte;
        if instead_of == BREAKPOINT {
            return Ok(());
        }
        memory.patch(at, BREAKPOINT)?;
        self.0.push(Breakpoint { at, instead_of, place, is_set: true });
        Ok(())
    }

    /// [`Breakpoints::set`] in code that stays as it is: what was read there once is not read again, as each access to
    /// the memory takes as long as many instructions.
    ///
    /// # Errors
    /// The memory cannot be changed.
    pub(super) fn set_again(
        &mut self,
        memory: &ChildMemory,
        at: usize,
        place: Place,
    ) -> io::Result<()> {
        let known = self.0.iter_mut().rfind(|known| known.at == at && known.place == place);
        match known {
            Some(known) if !known.is_set => {
                memory.patch(at, BREAKPOINT)?;
                known.is_set = true;
                Ok(())
            }
            Some(_) => Ok(()),
            None => self.set(memory, at, place),
        }
    }

    /// Takes away the one that was set last at `at`, where a thread has reached it; what it stands for, and whether
    /// it was still there. `None` where none was ever set there.
    ///
    /// # Errors
    /// The memory cannot be changed.
    pub(super) fn take(
        &mut self,
        memory: &ChildMemory,
        at: usize,
    ) -> io::Result<Option<(Place, bool)>> {
        let Some(breakpoint) = self.0.iter_mut().rfind(|known| known.at == at) else {
            return Ok(None);
        };
        let was_set = std::mem::replace(&mut breakpoint.is_set, false);
        if was_set {
            // It is still there: it was executed.
            memory.patch(at, breakpoint.instead_of)?;
        }
        Ok(Some((breakpoint.place, was_set)))
    }

    /// Whether one is set at `at`.
    pub(super) fn is_set(&self, at: usize) -> bool {
        self.0.iter().any(|breakpoint| breakpoint.at == at && breakpoint.is_set)
    }

    /// Takes all away. What cannot be changed any more has been unmapped.
    pub(super) fn take_all(&mut self, memory: &ChildMemory) {
        for breakpoint in &mut self.0 {
            let _ = breakpoint.take(memory);
        }
    }

    /// Forgets those of a DLL that is unmapped: something else may be in its place soon.
    pub(super) fn forget(&mut self, dll: usize) {
        self.0.retain(|breakpoint| breakpoint.place != Place::Dll(dll));
    }
}

impl Breakpoint {
    /// Puts the byte back, unless something else has been written over the breakpoint.
    fn take(&mut self, memory: &ChildMemory) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_set, false) {
            return Ok(());
        }
        let mut byte = [0];
        memory.read(self.at, &mut byte)?;
        if byte == [BREAKPOINT] {
            memory.patch(self.at, self.instead_of)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::UnsafeCell;
    use windows_sys::Win32::System::Threading::GetCurrentProcess;

    /// Code of this very process, which nobody executes.
    struct Code(UnsafeCell<[u8; 3]>);

    impl Code {
        fn at(&self, place: usize) -> usize {
            self.0.get().addr() + place
        }

        fn bytes(&self) -> [u8; 3] {
            // SAFETY: nothing else refers to the bytes, which the system may have changed.
            unsafe { self.0.get().read_volatile() }
        }

        fn write(&self, bytes: [u8; 3]) {
            // SAFETY: nothing else refers to the bytes.
            unsafe { self.0.get().write_volatile(bytes) }
        }
    }

    #[test]
    fn a_byte_is_put_back_only_in_the_place_of_a_breakpoint() {
        // SAFETY: no pointer is passed.
        let memory = ChildMemory::new(unsafe { GetCurrentProcess() });
        let code = Code(UnsafeCell::new([0x90, 0x48, BREAKPOINT]));
        let mut all = Breakpoints::default();
        all.set(&memory, code.at(0), Place::Program).unwrap();
        all.set(&memory, code.at(1), Place::Dll(4)).unwrap();
        // The program's own, which stays.
        all.set(&memory, code.at(2), Place::Return).unwrap();
        assert_eq!(code.bytes(), [BREAKPOINT; 3]);
        assert!(all.is_set(code.at(0)) && !all.is_set(code.at(2)));
        assert_eq!(all.take(&memory, code.at(0)).unwrap(), Some((Place::Program, true)));
        assert_eq!(all.take(&memory, code.at(0)).unwrap(), Some((Place::Program, false)));
        assert_eq!(all.take(&memory, code.at(2)).unwrap(), None);
        assert_eq!(code.bytes(), [0x90, BREAKPOINT, BREAKPOINT]);
        // Something else is in the place of a breakpoint, and a DLL has gone.
        all.set(&memory, code.at(0), Place::Program).unwrap();
        code.write([0xeb, BREAKPOINT, BREAKPOINT]);
        all.forget(4);
        all.take_all(&memory);
        assert_eq!(code.bytes(), [0xeb, BREAKPOINT, BREAKPOINT]);
    }
}
