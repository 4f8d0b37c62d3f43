//! A launched program under ptrace: the few things that the launcher does with one.

use super::alarm::Alarm;
use super::leave::told_to_leave;
use crate::linux::program::has_capabilities;
use crate::linux::spawn::Child;
use crate::linux::trace::arch;
use crate::linux::trace::ptrace::{self, Tid};
use model::Ending;
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::ffi::CString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

// Keys of the auxiliary vector (getauxval(3)).
const AT_ENTRY: u64 = 9;
const AT_EUID: u64 = 12;
const AT_EGID: u64 = 14;

/// The next thing that happens to the program.
pub enum Next {
    /// It stopped, with the status of waitpid.
    Stopped(libc::c_int),
    /// It ended, and used what is said.
    Ended(Ending, Box<libc::rusage>),
}

/// Waits for it; `None` when the time is up.
pub fn next(child: &Child, alarm: &Alarm) -> Option<Next> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid; both values outlive the calls.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: as above.
        match unsafe { libc::wait4(child.pid, &mut status, libc::__WALL, &mut usage) } {
            -1 if alarm.is_over() || told_to_leave() => return None,
            -1 => {}
            _ if libc::WIFSTOPPED(status) => return Some(Next::Stopped(status)),
            _ => break,
        }
    }
    let ending = if libc::WIFSIGNALED(status) {
        Ending::Signal(libc::WTERMSIG(status))
    } else {
        Ending::Code(libc::WEXITSTATUS(status))
    };
    Some(Next::Ended(ending, Box::new(usage)))
}

/// What the kernel told a program at its execve.
pub struct ExecutedImage {
    /// Address of its first own instruction.
    pub entry: u64,
    user: u32,
    group: u32,
}

impl ExecutedImage {
    /// Reads `/proc/PID/auxv` of a stopped program; `None` where it cannot be read.
    pub fn of(tid: Tid) -> Option<Self> {
        let bytes = fs::read(format!("/proc/{tid}/auxv")).ok()?;
        let narrow = arch::is_32_bit(&ptrace::registers(tid).ok()?);
        let words: Vec<u64> = if narrow {
            let word = |chunk: &[u8; 4]| u64::from(u32::from_le_bytes(*chunk));
            bytes.as_chunks().0.iter().map(word).collect()
        } else {
            bytes.as_chunks().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect()
        };
        let value = |key: u64| words.as_chunks().0.iter().find(|[k, _]| *k == key).map(|[_, v]| *v);
        Some(ExecutedImage {
            entry: value(AT_ENTRY)?,
            user: value(AT_EUID)? as u32,
            group: value(AT_EGID)? as u32,
        })
    }

    /// Whether its file grants privileges that ptrace took away (execve(2)): it then runs in
    /// another way than it otherwise does.
    pub fn lost_privileges(&self, tid: Tid) -> bool {
        let path = format!("/proc/{tid}/exe");
        let Ok(data) = fs::metadata(&path) else { return false };
        let Ok(c_path) = CString::new(path) else { return false };
        if is_on_nosuid(&c_path) {
            return false;
        }
        let has = |bits: u32| data.permissions().mode() & bits == bits;
        has(libc::S_ISUID) && data.uid() != self.user
            || has(libc::S_ISGID | libc::S_IXGRP) && data.gid() != self.group
            || has_capabilities(&c_path) && !process_has_capabilities(tid)
    }
}

fn is_on_nosuid(path: &CString) -> bool {
    statvfs(path.as_c_str()).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOSUID))
}

fn process_has_capabilities(tid: Tid) -> bool {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
    let permitted = status.lines().find_map(|line| line.strip_prefix("CapPrm:"));
    permitted.is_none_or(|bits| bits.trim().bytes().any(|digit| digit != b'0'))
}
