//! What the kernel tells a new image at its execve: proc_pid_auxv(5), proc_pid_cmdline(5) and
//! proc_pid_environ(5).

use super::ptrace::{self, Tid};
use model::text::text;
use model::{LoadBias, MappedVa};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

// Keys of the auxiliary vector (getauxval(3)).
const AT_BASE: u64 = 7;
const AT_ENTRY: u64 = 9;
const AT_EUID: u64 = 12;
const AT_EGID: u64 = 14;

/// The parts of the auxiliary vector that are used.
pub(in crate::linux) struct Auxiliary {
    /// The program's entry point as mapped.
    pub entry: MappedVa,
    /// What is added to the loader's addresses; 0 where there is none.
    pub loader_base: LoadBias,
    /// Effective user.
    pub user: u32,
    /// Effective group.
    pub group: u32,
}

impl Auxiliary {
    /// That of a process, whose words are `narrow` where it executes a 32-bit image; `None` where
    /// it cannot be read.
    pub(in crate::linux) fn of(tid: Tid, narrow: bool) -> Option<Auxiliary> {
        let bytes = fs::read(ptrace::proc_path(tid, "auxv")).ok()?;
        let words: Vec<u64> = if narrow {
            let word = |chunk: &[u8; 4]| u64::from(u32::from_le_bytes(*chunk));
            bytes.as_chunks().0.iter().map(word).collect()
        } else {
            bytes.as_chunks().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect()
        };
        let value = |key: u64| words.as_chunks().0.iter().find(|[k, _]| *k == key).map(|[_, v]| *v);
        Some(Auxiliary {
            entry: MappedVa(value(AT_ENTRY)?),
            loader_base: LoadBias::new(value(AT_BASE).unwrap_or(0)),
            user: value(AT_EUID)? as u32,
            group: value(AT_EGID)? as u32,
        })
    }
}

/// The arguments that a process received.
pub(super) fn arguments(tid: Tid) -> io::Result<Vec<String>> {
    let strings = fs::read(ptrace::proc_path(tid, "cmdline"))?;
    let argument = |part: &[u8]| text(OsStr::from_bytes(part.strip_suffix(b"\0").unwrap_or(part)));
    Ok(strings.split_inclusive(|&byte| byte == 0).map(argument).collect())
}

/// Whether the environment of a process asks for LD_AUDIT.
pub(super) fn is_audited(tid: Tid) -> io::Result<bool> {
    let strings = fs::read(ptrace::proc_path(tid, "environ"))?;
    Ok(strings.split(|&byte| byte == 0).any(|variable| variable.starts_with(b"LD_AUDIT=")))
}

/// The variables of a process whose names begin with `LD_`.
pub(super) fn loader_variables(tid: Tid) -> io::Result<Vec<(String, OsString)>> {
    let strings = fs::read(ptrace::proc_path(tid, "environ"))?;
    let variable = |bytes: &[u8]| {
        let at = bytes.iter().position(|&byte| byte == b'=')?;
        let (name, value) = (bytes.get(..at)?, bytes.get(at + 1..)?);
        let name = std::str::from_utf8(name).ok().filter(|name| name.starts_with("LD_"))?;
        Some((name.to_owned(), OsStr::from_bytes(value).to_owned()))
    };
    Ok(strings.split(|&byte| byte == 0).filter_map(variable).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::processes::own_pid;

    #[test]
    fn what_this_process_was_told_is_read_back() {
        let own = Auxiliary::of(own_pid(), false).unwrap();
        assert_eq!(own.user, rustix::process::geteuid().as_raw());
        assert_eq!(own.group, rustix::process::getegid().as_raw());
        assert!(own.entry > MappedVa::ZERO);
        assert_eq!(arguments(own_pid()).unwrap(), std::env::args().collect::<Vec<_>>());
        assert!(!is_audited(own_pid()).unwrap());
    }
}
