//! Exceptions that programs raise themselves, such as those of C++, in launches that Wine debugs.
//!
//! Wine 8.0 hands breakpoints to a debugger only while the process environment block says that the process is
//! debugged. RtlRaiseException of its ntdll looks at the same byte, and then takes a way on which the stack cannot be
//! unwound: the program crashes. In a debugged process that branch is taken out, so exceptions go the way that they go
//! without a debugger.

use crate::windows::launcher::memory::ChildMemory;
use crate::windows::{system_file, under_wine};
use std::io;

/// `cmpb $0, BeingDebugged(%rax); jne +5; call dispatch_exception`, without the address.
const CODE: [u8; 7] = [0x80, 0x78, 0x02, 0x00, 0x75, 0x05, 0xe8];
/// Where the jump is in it, and two instructions that do nothing.
const JUMP: usize = 4;
const NOTHING: [u8; 2] = [0x90, 0x90];
/// Bytes of the function in which the code is looked for.
const SEARCHED: usize = 128;

/// Mends ntdll, which is at `base` in a new process. Does nothing on Windows, and where
/// the code is another.
///
/// # Errors
/// The memory of the process cannot be read or changed.
pub(in crate::windows) fn mend(memory: &ChildMemory, base: usize) -> io::Result<()> {
    if under_wine::version().is_none() {
        return Ok(());
    }
    let place = system_file::place(c"ntdll.dll", c"RtlRaiseException");
    let Some(at) = place.map(|offset| base + offset) else { return Ok(()) };
    let mut code = [0; SEARCHED];
    memory.read(at, &mut code)?;
    match code.windows(CODE.len()).position(|code| code == CODE) {
        Some(found) => memory.write_code(at + found + JUMP, &NOTHING),
        None => Ok(()),
    }
}
