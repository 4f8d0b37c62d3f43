//! Whether the loader takes a file for a library (`open_verify` of glibc's elf/dl-load.c).

use super::machine::Machine;
use image::elf::records::{FileHeader, Identification, ProgramHeader};
use image::elf::spec;
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
    let mut header = Vec::with_capacity(FileHeader::SIZE);
    match file.take(FileHeader::SIZE as u64).read_to_end(&mut header) {
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
    let Some(header) = FileHeader::read(header) else {
        return Verdict::Rejected("file too short");
    };
    if let Some(verdict) = of_ident(&header.ident) {
        return verdict;
    }
    if header.version != spec::EV_CURRENT.into() {
        return Verdict::Rejected("ELF file version does not match current one");
    }
    if header.machine != machine.number {
        return Verdict::OtherMachine;
    }
    if ![spec::ET_EXEC, spec::ET_DYN].contains(&header.kind) {
        return Verdict::Rejected("only ET_DYN and ET_EXEC can be loaded");
    }
    if usize::from(header.program_size) != ProgramHeader::SIZE {
        return Verdict::Rejected("ELF file's phentsize not the expected size");
    }
    let segments = u64::from(header.program_count) * ProgramHeader::SIZE as u64;
    match header.programs_at.checked_add(segments) {
        Some(end) if end.0 <= size => Verdict::Usable,
        _ => Verdict::Rejected("cannot read file data"),
    }
}

/// What the first 16 bytes say against a file, if anything.
fn of_ident(ident: &Identification) -> Option<Verdict> {
    let gnu = ident.os_abi == spec::ELFOSABI_GNU;
    let reason = if ident.magic != spec::ELFMAG {
        "invalid ELF header"
    } else if ident.class != spec::ELFCLASS64 {
        return Some(Verdict::OtherClass);
    } else if ident.data != spec::ELFDATA2LSB {
        "ELF file data encoding not little-endian"
    } else if ident.version != spec::EV_CURRENT {
        "ELF file version ident does not match current one"
    } else if !gnu && ident.os_abi != spec::ELFOSABI_SYSV {
        "ELF file OS ABI invalid"
    } else if ident.abi_version != 0 && !(gnu && ident.abi_version <= LAST_ABI) {
        "ELF file ABI version invalid"
    } else if ident.padding.iter().any(|&byte| byte != 0) {
        "nonzero padding in e_ident"
    } else {
        return None;
    };
    Some(Verdict::Rejected(reason))
}
