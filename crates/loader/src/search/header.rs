//! Whether the loader takes a file for a library (`open_verify` of glibc's elf/dl-load.c).

use super::machine::Machine;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// What the loader makes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It would be mapped.
    Usable,
    /// ELF of the other class: passed over, and told if nothing better is found.
    OtherClass,
    /// ELF of another machine: passed over.
    OtherMachine,
    /// There is no such file.
    Absent,
    /// It may not be read, or its folder not be entered: to the loader as if it were not there.
    Denied,
    /// It cannot be opened for another reason, at which a list of folders is left.
    Unopened,
    /// The search ends here, with the words of the loader.
    Rejected(&'static str),
}

/// Highest EI_ABIVERSION that glibc 2.36 takes together with ELFOSABI_GNU (libc-abis).
const LAST_ABI: u8 = 3;

/// Sizes of the ELF header and of a program header of 64-bit files.
const HEADER: usize = 64;
const SEGMENT: u64 = 56;

/// Values of the ELF header (gABI, chapter 4).
const MAGIC: [u8; 4] = *b"\x7fELF";
const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;
const CURRENT: u8 = 1;
const ABI_SYSV: u8 = 0;
const ABI_GNU: u8 = 3;
const EXECUTABLE: u64 = 2;
const SHARED: u64 = 3;

/// Opens `path` and reads what the loader reads before it maps a file.
pub(super) fn verdict(path: &Path, machine: &Machine) -> Verdict {
    // Opening a pipe without a writer would wait for ever.
    let data = match std::fs::metadata(path) {
        Ok(data) => data,
        Err(error) => return unopened(&error),
    };
    if data.is_dir() {
        return Verdict::Rejected("cannot read file data: it is a folder");
    }
    if !data.is_file() {
        return Verdict::Rejected("not a regular file");
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return unopened(&error),
    };
    let mut header = Vec::with_capacity(HEADER);
    match file.take(HEADER as u64).read_to_end(&mut header) {
        Ok(_) => of_header(&header, data.len(), machine),
        Err(_) => Verdict::Rejected("cannot read file data"),
    }
}

fn unopened(error: &std::io::Error) -> Verdict {
    match error.kind() {
        ErrorKind::NotFound => Verdict::Absent,
        ErrorKind::PermissionDenied => Verdict::Denied,
        _ => Verdict::Unopened,
    }
}

/// The tests, in the loader's order. `size`: of the whole file.
fn of_header(header: &[u8], size: u64, machine: &Machine) -> Verdict {
    if header.len() < HEADER {
        return Verdict::Rejected("file too short");
    }
    if let Some(verdict) = header.first_chunk().and_then(of_ident) {
        return verdict;
    }
    if field::<4>(header, 20) != u64::from(CURRENT) {
        return Verdict::Rejected("ELF file version does not match current one");
    }
    if field::<2>(header, 18) != machine.number {
        return Verdict::OtherMachine;
    }
    if ![EXECUTABLE, SHARED].contains(&field::<2>(header, 16)) {
        return Verdict::Rejected("only ET_DYN and ET_EXEC can be loaded");
    }
    if field::<2>(header, 54) != SEGMENT {
        return Verdict::Rejected("ELF file's phentsize not the expected size");
    }
    let segments = field::<2>(header, 56) * SEGMENT;
    match field::<8>(header, 32).checked_add(segments) {
        Some(end) if end <= size => Verdict::Usable,
        _ => Verdict::Rejected("cannot read file data"),
    }
}

/// The little-endian field of `N` bytes at `offset`, which lies within the header.
fn field<const N: usize>(header: &[u8], offset: usize) -> u64 {
    let bytes = header.get(offset..offset + N).unwrap_or_default();
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// What the first 16 bytes say against a file, if anything.
fn of_ident(ident: &[u8; 16]) -> Option<Verdict> {
    let &[m0, m1, m2, m3, class, data, version, abi, abi_version, ref padding @ ..] = ident;
    let gnu = abi == ABI_GNU;
    let reason = if [m0, m1, m2, m3] != MAGIC {
        "invalid ELF header"
    } else if class != CLASS_64 {
        return Some(Verdict::OtherClass);
    } else if data != LITTLE_ENDIAN {
        "ELF file data encoding not little-endian"
    } else if version != CURRENT {
        "ELF file version ident does not match current one"
    } else if !gnu && abi != ABI_SYSV {
        "ELF file OS ABI invalid"
    } else if abi_version != 0 && !(gnu && abi_version <= LAST_ABI) {
        "ELF file ABI version invalid"
    } else if padding.iter().any(|&byte| byte != 0) {
        "nonzero padding in e_ident"
    } else {
        return None;
    };
    Some(Verdict::Rejected(reason))
}
