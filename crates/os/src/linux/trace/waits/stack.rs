//! The stack of a thread that has waited, kept so that its callers can be found afterwards.

use super::super::arch;
use super::super::ptrace::{self, Tid};
use model::text;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

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
    pub code: Vec<CodeMapping>,
}

/// A file that is mapped executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeMapping {
    /// First address.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Offset in the file of what is at the first address.
    pub offset: u64,
    /// The file, as [`model::text`] writes names.
    pub path: String,
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
    let maps = fs::read(ptrace::proc_path(tid, "maps")).ok()?;
    let code = text::text(OsStr::from_bytes(&maps)).lines().filter_map(mapping).collect();
    Some(WaitStack { registers: arch::dwarf_registers(&registers), memory, code })
}

/// A line of `/proc/PID/maps`, where it is about a file's code.
fn mapping(line: &str) -> Option<CodeMapping> {
    let path = &line[line.find('/')?..];
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    if !words.next()?.contains('x') {
        return None;
    }
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = number(words.next()?)?;
    Some(CodeMapping { start: number(start)?, end: number(end)?, offset, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_a_mapping() {
        let line = "7f0000001000-7f0000003000 r-xp 00002000 fe:01 77    /lib/a b.so";
        let expected = CodeMapping {
            start: 0x7f00_0000_1000,
            end: 0x7f00_0000_3000,
            offset: 0x2000,
            path: "/lib/a b.so".to_owned(),
        };
        assert_eq!(mapping(line), Some(expected));
        assert_eq!(mapping("7f00-7f10 r--p 00000000 fe:01 77 /lib/a.so"), None);
        assert_eq!(mapping("7f00-7f10 r-xp 00000000 00:00 0 [vdso]"), None);
        assert_eq!(mapping("cut /"), None);
    }
}
