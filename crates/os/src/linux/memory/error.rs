//! Why the memory of a process cannot be read.

use crate::linux::trace::ptrace::proc_path;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

/// Flag of kernel threads in the ninth field of stat (PF_KTHREAD of linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Why the memory of a process cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// It is not there.
    #[error("there is no process {0}; it may have ended (ps -e lists those that run)")]
    NoProcess(u32),
    /// It has ended, and its parent has not asked how.
    #[error("process {0} has ended and has no memory any more (a zombie); give another process")]
    Zombie(u32),
    /// It is a part of the kernel.
    #[error(
        "process {0} is a thread of the kernel, which has no memory of its own; give another process"
    )]
    KernelThread(u32),
    /// It belongs to somebody else.
    #[error("process {pid} belongs to another user (number {user}); run headstart as root")]
    OtherUser {
        /// The process.
        pid: u32,
        /// Its user.
        user: u32,
    },
    /// It belongs to the user, and is protected all the same.
    #[error(
        "process {0} does not let others read its memory, as programs do that have privileges or \
         whose files may not be read; run headstart as root"
    )]
    Protected(u32),
    /// Not even root may read it.
    #[error(
        "the memory of process {0} may not be read, not even by root: a container or a security \
         module refuses it; run headstart outside of the container"
    )]
    Confined(u32),
    /// The kernel refused it otherwise.
    #[error("the memory of process {pid} cannot be read: {source}; check whether /proc is mounted")]
    Io {
        /// The process.
        pid: u32,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl MemoryError {
    /// Whether somebody else may read it.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            MemoryError::OtherUser { .. } | MemoryError::Protected(_) | MemoryError::Confined(_)
        )
    }
}

/// What an error means for a process with these fields of stat, from the state on.
pub(super) fn explain(pid: u32, fields: &[String], source: io::Error) -> MemoryError {
    let flags = fields.get(6).and_then(|flags| flags.parse::<u64>().ok()).unwrap_or(0);
    if flags & KERNEL_THREAD != 0 {
        return MemoryError::KernelThread(pid);
    }
    // It may have ended since these were read.
    let id = pid.cast_signed();
    let state = crate::linux::processes::stat_fields(id);
    match state.as_ref().and_then(|fields| fields.first()).map(String::as_str) {
        None => return MemoryError::NoProcess(pid),
        Some("Z" | "X") => return MemoryError::Zombie(pid),
        Some(_) => {}
    }
    match source.kind() {
        io::ErrorKind::PermissionDenied => {
            let owner = fs::metadata(proc_path(id, "")).map(|data| data.uid());
            let own = rustix::process::geteuid().as_raw();
            match real_user(id).or(owner.ok()) {
                _ if own == 0 => MemoryError::Confined(pid),
                Some(user) if user != own => MemoryError::OtherUser { pid, user },
                _ => MemoryError::Protected(pid),
            }
        }
        _ if source.raw_os_error() == Some(libc::ESRCH) => MemoryError::NoProcess(pid),
        io::ErrorKind::NotFound => MemoryError::NoProcess(pid),
        _ => MemoryError::Io { pid, source },
    }
}

/// The user that started it: `/proc/PID` of a protected process belongs to root.
fn real_user(pid: libc::pid_t) -> Option<u32> {
    crate::linux::processes::line(pid, "status", "Uid:")?.split_whitespace().next()?.parse().ok()
}
