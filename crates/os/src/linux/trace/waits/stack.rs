//! The stack of a thread that has waited, kept so that its callers can be found afterwards.

use super::super::ptrace::{self, Tid};
use super::super::{FileMapping, arch, maps};

/// A wait shorter than this is of no interest.
const LEAST_US: f64 = 100.0;
/// As much of a stack as is kept.
const BYTES: usize = 64 << 10;

/// A thread's registers, the upper end of its stack, and its code.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitStack {
    /// Registers by their DWARF number (psABI 3.6.2): 0 to 15, and 16 for the next instruction.
    pub registers: [u64; 17],
    /// Memory from the stack pointer on.
    pub memory: Vec<u8>,
    /// Files mapped executable.
    pub code: Vec<FileMapping>,
}

/// What is kept of `tid`, which is stopped at the end of a call that waited for so long.
pub fn keep(tid: Tid, waited_us: f64) -> Option<WaitStack> {
    if waited_us < LEAST_US {
        return None;
    }
    let registers = ptrace::registers(tid).ok()?;
    let mut memory = vec![0; BYTES];
    let read = ptrace::read_memory(tid, arch::stack_pointer(&registers), &mut memory);
    memory.truncate(read);
    let mut code = maps::files(tid)?;
    code.retain(|file| file.executable);
    Some(WaitStack { registers: arch::dwarf_registers(&registers), memory, code })
}
