//! A launched program under ptrace: the few things that the launcher does with one.

use super::alarm::Alarm;
use super::leave::told_to_leave;
use crate::linux::processes;
use crate::linux::program::has_capabilities;
use crate::linux::spawn::Child;
use crate::linux::trace::arch;
use crate::linux::trace::ptrace::{self, Tid};
use crate::linux::trace::start::Auxiliary;
use model::Ending;
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

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
    Some(Next::Ended(ptrace::ending(status), Box::new(usage)))
}

/// What the kernel told a program at its execve; `None` where it cannot be read.
pub fn executed_image(tid: Tid) -> Option<Auxiliary> {
    Auxiliary::of(tid, arch::is_32_bit(&ptrace::registers(tid).ok()?))
}

/// Whether the program's file grants privileges that ptrace took away (execve(2)): it then runs in
/// another way than it otherwise does.
pub fn lost_privileges(tid: Tid, image: &Auxiliary) -> bool {
    let path = ptrace::proc_path(tid, "exe");
    let Ok(data) = fs::metadata(&path) else { return false };
    let Ok(c_path) = CString::new(path) else { return false };
    if is_on_nosuid(&c_path) {
        return false;
    }
    let has = |bits: u32| data.permissions().mode() & bits == bits;
    has(libc::S_ISUID) && data.uid() != image.user
        || has(libc::S_ISGID | libc::S_IXGRP) && data.gid() != image.group
        || has_capabilities(&c_path) && !process_has_capabilities(tid)
}

/// Whether executing the file at this path can grant privileges to a user who has none.
pub fn grants_privileges(path: &Path) -> bool {
    let Ok(data) = fs::metadata(path) else { return false };
    let Ok(c_path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    let has = |bits: u32| data.permissions().mode() & bits == bits;
    let grants = has(libc::S_ISUID) || has(libc::S_ISGID | libc::S_IXGRP);
    (grants || has_capabilities(&c_path)) && !is_on_nosuid(&c_path)
}

fn is_on_nosuid(path: &CString) -> bool {
    statvfs(path.as_c_str()).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOSUID))
}

fn process_has_capabilities(tid: Tid) -> bool {
    let permitted = processes::line(tid, "status", "CapPrm:");
    permitted.is_none_or(|bits| bits.bytes().any(|digit| digit != b'0'))
}
